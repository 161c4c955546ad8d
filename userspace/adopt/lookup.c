/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the programs, directories, user and cgroup of an entry of cordon.yaml on this host. */
#include "adopt/lookup.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adopt/name_walk.h"
#include "base/failure.h"
#include "base/parcel.h"
#include "base/walk.h"
#include "launch/identity.h"
#include "launch/lower_limits.h"

#define CGROUP_ROOT "/sys/fs/cgroup"
/*
 * Bytes of a script that the kernel reads for the interpreter (BINPRM_BUF_SIZE,
 * uapi/linux/binfmts.h).
 */
#define HEAD_SIZE 256

void lookup_begin(struct lookup *l)
{
	*l = (struct lookup){.all_programs = true};
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		l->directories[i] = -1;
}

void lookup_release(struct lookup *l)
{
	for (size_t i = 0; i < l->problem_count; i++)
		free(l->problems[i].text);
	free(l->problems);
	free(l->prefix);
	free(l->cgroup);
	free(l->note);
	compiled_strings_free(l->targets);
	compiled_strings_free(l->programs);
	compiled_strings_free(l->except);
	compiled_strings_free(l->under);
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		closep(&l->directories[i]);
	lookup_begin(l);
}

int lookup_add_problem(struct lookup *l, int error, const char *format, ...)
{
	struct lookup_problem *larger =
		reallocarray(l->problems, l->problem_count + 1, sizeof(*larger));
	char *text;
	va_list arguments;
	int n;

	if (!larger)
		return -ENOMEM;
	l->problems = larger;
	va_start(arguments, format);
	errno = abs(error); /* for %m */
	n = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (n < 0)
		return -ENOMEM;
	larger[l->problem_count++] = (struct lookup_problem){-abs(error), text};
	return 0;
}

static int add_text(char ***list, const char *text)
{
	size_t count = 0;
	char **larger;

	while (*list && (*list)[count])
		count++;
	larger = reallocarray(*list, count + 2, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	*list = larger;
	larger[count + 1] = NULL;
	larger[count] = strdup(text);
	return larger[count] ? 0 : -ENOMEM;
}

/* --- programs ----------------------------------------------------------------------------- */

static bool is_in(char *const *list, const char *text)
{
	for (; list && *list; list++)
		if (strcmp(*list, text) == 0)
			return true;
	return false;
}

/*
 * Finds the real path of a program, because the kernel compares real paths. *ret_there: it exists.
 */
static int find_program(struct lookup *l, const char *what, const char *path,
			char ret_path[PATH_MAX], bool *ret_there)
{
	char found[PATH_MAX], foreseen[PATH_MAX];
	int r = 0;

	/* Walk before realpath(3), so that the visitor notices a change between the two. */
	if (name_walk_resolve(path, l->visitor, foreseen) < 0)
		snprintf(foreseen, sizeof(foreseen), "%s", path);
	*ret_there = realpath(path, found) != NULL;
	if (!*ret_there) {
		r = lookup_add_problem(l, errno, "%s %s: %m", what, path);
		memcpy(found, foreseen, sizeof(found));
	}
	if (r == 0 && strlen(found) > CONFIG_PATH_MAX) {
		r = lookup_add_problem(l, ENAMETOOLONG,
				       "%s %s is %s, which is longer than %u bytes", what, path,
				       found, CONFIG_PATH_MAX);
		*ret_there = false;
		snprintf(found, sizeof(found), "%s", path);
	}
	memcpy(ret_path, found, sizeof(found));
	return r;
}

/* Returns the program that env(1) would start for its argument. */
static void find_in_path(const char *argument, char *ret_program, size_t size)
{
	static const char *const directories[] = {"/usr/local/bin", "/usr/bin", "/bin"};
	const char *name = argument + strspn(argument, " \t");
	int length = (int)strcspn(name, " \t\r\n");

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		snprintf(ret_program, size, "%s/%.*s", directories[i], length, name);
		if (access(ret_program, X_OK) == 0)
			return;
	}
	snprintf(ret_program, size, "%.*s", length, name);
}

/*
 * A script is matched when it is started by its name. env(1) then starts the interpreter, which
 * would count as a program of the executor and therefore as agent code.
 */
static int check_script(struct lookup *l, const char *name, const char *path, const char *head)
{
	size_t from = 2 + strspn(head + 2, " \t"), length = strcspn(head + from, " \t\r\n");
	char interpreter[HEAD_SIZE];

	snprintf(interpreter, sizeof(interpreter), "%.*s", (int)length, head + from);
	if (length >= 4 && strcmp(interpreter + length - 4, "/env") == 0) {
		find_in_path(head + from + length, interpreter, sizeof(interpreter));
		return lookup_add_problem(l, ENOEXEC,
					  "%s is a script: the process is %s; write that as "
					  "executable, with arguments: \"*/%s\"",
					  name, interpreter, strrchr(path, '/') + 1);
	}
	free(l->note);
	if (asprintf(
		    &l->note,
		    "%s is a script: the process is %s, and one that is started as \"%s %s\" does not "
		    "match; to match it, write executable: %s, arguments: \"*/%s\"",
		    name, interpreter, interpreter, path, interpreter,
		    strrchr(path, '/') + 1) < 0) {
		l->note = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Checks that a process can run the file. */
static int check_program(struct lookup *l, const char *name, const char *path)
{
	_cleanup_(closep) int fd = -1;
	char head[HEAD_SIZE + 1] = "";
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	if (!S_ISREG(st.st_mode))
		return lookup_add_problem(l, EINVAL, "its program %s is not a file", name);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0
				       : lookup_add_problem(l, errno, "its program %s: %m", name);
	if (read(fd, head, HEAD_SIZE) < 0)
		return lookup_add_problem(l, errno, "its program %s: %m", name);
	if (strncmp(head, "#!", 2) == 0)
		return check_script(l, name, path, head);
	if (memcmp(head, ELFMAG, SELFMAG) != 0)
		return lookup_add_problem(l, ENOEXEC, "%s is not a program: no process can run it",
					  name);
	return 0;
}

struct like_search {
	struct lookup *l;
	const char *pattern;
	size_t count;
};

/* The kernel matches paths against the pattern. This adds only link targets that do not match. */
static int add_like(void *context, const char *path)
{
	struct like_search *search = context;
	char found[PATH_MAX];

	(void)name_walk_resolve(path, search->l->visitor, found);
	if (!realpath(path, found))
		return 0;
	search->l->matches++;
	if (strlen(found) > CONFIG_PATH_MAX || is_in(search->l->targets, found) ||
	    name_walk_is_like(search->pattern, found))
		return 0;
	if (++search->count > LOOKUP_TARGETS_MAX)
		return -E2BIG;
	return add_text(&search->l->targets, found);
}

/*
 * Finds the pattern's fixed part up to the last '/', with links resolved, as the kernel compares
 * it.
 */
static int find_prefix(struct lookup *l, const char *pattern)
{
	size_t fixed = name_walk_fixed(pattern), directory = fixed;
	char path[PATH_MAX], real[PATH_MAX];

	while (directory > 0 && pattern[directory - 1] != '/')
		directory--;
	snprintf(path, sizeof(path), "%.*s", (int)directory, pattern);
	if (name_walk_resolve(path, l->visitor, real) < 0)
		snprintf(real, sizeof(real), "%.*s", (int)(directory - 1), pattern);
	if (asprintf(&l->prefix, "%s%s%.*s", real, strcmp(real, "/") != 0 ? "/" : "",
		     (int)(fixed - directory), pattern + directory) < 0) {
		l->prefix = NULL;
		return -ENOMEM;
	}
	if (strlen(l->prefix) > CONFIG_PATH_MAX)
		return lookup_add_problem(l, ENAMETOOLONG, "its program %s is below %s", pattern,
					  real);
	return 0;
}

static int find_pattern(struct lookup *l, const char *pattern)
{
	char whole[PATH_MAX];
	struct like_search search = {.l = l, .pattern = whole};
	int r = find_prefix(l, pattern);

	if (r < 0)
		return r;
	snprintf(whole, sizeof(whole), "%s%s", l->prefix, pattern + name_walk_fixed(pattern));
	r = name_walk_match(pattern, l->visitor, add_like, &search);
	return r == -E2BIG
		       ? lookup_add_problem(l, E2BIG, "its program %s leads to more than %u others",
					    pattern, LOOKUP_TARGETS_MAX)
		       : r;
}

static int find_executable(struct lookup *l, const struct config_executor *is)
{
	char path[PATH_MAX];
	bool there;
	int r;

	if (name_walk_is_pattern(is->executable))
		return find_pattern(l, is->executable);
	r = find_program(l, "its program", is->executable, path, &there);
	if (r == 0 && there) {
		l->matches++;
		r = check_program(l, is->executable, path);
	}
	return r < 0 ? r : add_text(&l->targets, path);
}

static int find_programs(struct lookup *l, const char *const *names, char ***list, bool *ret_all)
{
	char path[PATH_MAX];
	bool there;
	int r = 0;

	for (; r == 0 && *names; names++) {
		r = find_program(l, "the program", *names, path, &there);
		*ret_all = *ret_all && there;
		if (r == 0)
			r = add_text(list, path);
	}
	return r;
}

/* --- who and where ------------------------------------------------------------------------ */

static int find_user(struct lookup *l, const struct config_executor *is)
{
	const struct passwd *user;

	l->has_user = identity_parse_id(is->user, &l->user);
	if (l->has_user)
		return 0;
	errno = 0;
	user = getpwnam(is->user);
	if (!user && errno && errno != ENOENT && errno != ESRCH)
		return lookup_add_problem(l, errno, "the user %s: %m", is->user);
	if (!user)
		return lookup_add_problem(l, ENOENT, "there is no user %s", is->user);
	l->has_user = true;
	l->user = user->pw_uid;
	return 0;
}

/* Ends with '/', as the kernel compares it. */
static int set_cgroup(struct lookup *l, const char *path)
{
	size_t length = strlen(path);

	while (length > 0 && path[length - 1] == '/')
		length--;
	if (asprintf(&l->cgroup, "%.*s/", (int)length, path) < 0) {
		l->cgroup = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* If the cgroup does not exist, uses its nearest existing ancestor. */
static int find_cgroup(struct lookup *l, const struct config_executor *is)
{
	char path[PATH_MAX];
	const size_t top = strlen(CGROUP_ROOT);
	struct stat st;
	bool there;
	int r = 0;

	snprintf(path, sizeof(path), "%s%s", CGROUP_ROOT, is->cgroup);
	there = stat(path, &st) == 0;
	if (!there)
		r = lookup_add_problem(l, errno, "the cgroup %s: %m", path);
	while (r == 0 && !there && strlen(path) > top) {
		*strrchr(path, '/') = '\0';
		there = stat(path, &st) == 0;
	}
	return r < 0 ? r : set_cgroup(l, there ? path + top : "");
}

/*
 * Opens a directory, but not through links that agent code may have created, because these would
 * let it choose the next execution's directory.
 */
static int open_directory(struct lookup *l, const char *what, const char *path, int *ret_fd)
{
	struct failure failure = {};
	char ignored[PATH_MAX];
	int r;

	if (l->visitor)
		(void)name_walk_resolve(path, l->visitor, ignored);
	r = walk_directory(AT_FDCWD, path, what, ret_fd, &failure);

	if (r >= 0)
		return 0;
	if (failure.text[0])
		return lookup_add_problem(l, r, "%s", failure.text);
	return lookup_add_problem(l, r, "%s %s: %m", what, path);
}

static int find_directory(struct lookup *l, const char *path)
{
	static const char what[] = "the directory";
	_cleanup_(closep) int fd = -1;
	_cleanup_(freep) char *real = NULL;
	int r = open_directory(l, what, path, &fd);

	if (r < 0 || fd < 0)
		return r;
	r = walk_path_of(fd, &real);
	if (r < 0)
		return r == -ENOMEM ? r : lookup_add_problem(l, r, "%s %s: %m", what, path);
	if (strlen(real) > CONFIG_PATH_MAX)
		return lookup_add_problem(l, ENAMETOOLONG, "%s %s is longer than %u bytes", what,
					  real, CONFIG_PATH_MAX);
	return add_text(&l->under, real);
}

/* --- as text and for another process ------------------------------------------------------- */

static void put_values(FILE *out, const char *key, const char *const *names, char *const *values)
{
	/* If programs are missing, there are fewer values than names. */
	for (; values && *values; values++)
		fprintf(out, "%s %s is %s\n", key, names && *names ? *names++ : "?", *values);
}

char *lookup_text(const struct lookup *l, const struct config_executor *is)
{
	_cleanup_(freep) char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct stat st;

	if (!out)
		return NULL;
	put_values(out, "the program", is->programs, l->programs);
	put_values(out, "the program", is->except, l->except);
	put_values(out, "the directory", is->workdir_under, l->under);
	if (l->prefix)
		fprintf(out, "the program %s is %s...\n", is->executable, l->prefix);
	if (l->has_user)
		fprintf(out, "the user %s is %u\n", is->user, l->user);
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		if (l->directories[i] >= 0 && fstat(l->directories[i], &st) == 0)
			fprintf(out, "bound directory %zu is inode %llu of device %llu\n", i,
				(unsigned long long)st.st_ino, (unsigned long long)st.st_dev);
	return fclose(out) == 0 ? TAKE_PTR(text) : NULL;
}

static size_t count_of(char *const *list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

void lookup_put_problems(const struct lookup *l, FILE *to)
{
	const uint32_t count = (uint32_t)l->problem_count;

	(void)fwrite(&count, sizeof(count), 1, to);
	for (uint32_t i = 0; i < count; i++) {
		(void)fwrite(&l->problems[i].error, sizeof(l->problems[i].error), 1, to);
		parcel_put_text(to, l->problems[i].text);
	}
}

static int take_problem(struct lookup *l, struct parcel *from)
{
	_cleanup_(freep) char *text = NULL;
	int error, r;
	const void *at = parcel_take(from, sizeof(error));

	if (!at)
		return -EPROTO;
	memcpy(&error, at, sizeof(error));
	r = parcel_take_text(from, &text);
	if (r == 0 && !text)
		r = -EPROTO;
	return r < 0 ? r : lookup_add_problem(l, error, "%s", text);
}

int lookup_take_problems(struct lookup *l, struct parcel *from)
{
	uint32_t count;
	const void *at = parcel_take(from, sizeof(count));
	int r = at ? 0 : -EPROTO;

	if (r == 0)
		memcpy(&count, at, sizeof(count));
	for (uint32_t i = 0; r == 0 && i < count; i++)
		r = take_problem(l, from);
	return r;
}

int lookup_join(struct lookup *l, struct lookup *from)
{
	struct lookup joined = *from;
	size_t count = l->problem_count + from->problem_count;
	struct lookup_problem *problems = calloc(count + 1, sizeof(*problems));

	if (!problems)
		return -ENOMEM;
	for (size_t i = 0; i < l->problem_count; i++)
		problems[i] = l->problems[i];
	for (size_t i = 0; i < from->problem_count; i++)
		problems[l->problem_count + i] = from->problems[i];
	free(l->problems);
	free(from->problems);
	joined.problems = problems;
	joined.problem_count = count;
	*l = joined;
	lookup_begin(from);
	return 0;
}

int lookup_unresolved(struct lookup *l, const struct config_executor *is)
{
	size_t fixed = name_walk_fixed(is->executable);

	l->all_programs = false;
	if (!name_walk_is_pattern(is->executable))
		return add_text(&l->targets, is->executable);
	l->prefix = strndup(is->executable, fixed);
	return l->prefix ? 0 : -ENOMEM;
}

struct lookup_numbers {
	bool all_programs, has_user;
	uint32_t user;
	struct policy_limits limits;
};

void lookup_put(const struct lookup *l, FILE *to)
{
	struct lookup_numbers numbers;

	memset(&numbers, 0, sizeof(numbers));
	numbers.all_programs = l->all_programs;
	numbers.has_user = l->has_user;
	numbers.user = l->user;
	numbers.limits = l->limits;
	(void)fwrite(&numbers, sizeof(numbers), 1, to);
	parcel_put_text(to, l->prefix);
	parcel_put_text(to, l->cgroup);
	parcel_put_list(to, l->targets, count_of(l->targets));
	parcel_put_list(to, l->programs, count_of(l->programs));
	parcel_put_list(to, l->except, count_of(l->except));
	parcel_put_list(to, l->under, count_of(l->under));
}

int lookup_take(struct lookup *l, struct parcel *from)
{
	char ***const lists[] = {&l->targets, &l->programs, &l->except, &l->under};
	const void *at = parcel_take(from, sizeof(struct lookup_numbers));
	struct lookup_numbers numbers;
	size_t count;
	int r;

	if (!at)
		return -EPROTO;
	memcpy(&numbers, at, sizeof(numbers));
	l->all_programs = numbers.all_programs;
	l->has_user = numbers.has_user;
	l->user = numbers.user;
	l->limits = numbers.limits;
	r = parcel_take_text(from, &l->prefix);
	if (r == 0)
		r = parcel_take_text(from, &l->cgroup);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(lists); i++)
		r = parcel_take_list(from, lists[i], &count);
	return r;
}

/* ------------------------------------------------------------------------------------------ */

int lookup_names(struct lookup *l, const struct config_executor *is)
{
	bool all_except = true;
	int r = 0;

	(void)((r = find_executable(l, is)) < 0 || (is->user && (r = find_user(l, is)) < 0) ||
	       (is->cgroup && (r = find_cgroup(l, is)) < 0) ||
	       (r = find_programs(l, is->programs, &l->programs, &l->all_programs)) < 0 ||
	       (r = find_programs(l, is->except, &l->except, &all_except)) < 0);
	for (const char **at = is->workdir_under; r == 0 && *at; at++)
		r = find_directory(l, *at);
	return r;
}

/* --- with its policy ---------------------------------------------------------------------- */

static int check_coverage(struct lookup *l, const struct config_executor *is,
			  const struct compiled_policy *policy, char *const *gaps)
{
	struct cordon_policy_header header;

	memcpy(&header, policy->tables, sizeof(header));
	if (!(header.flags & CORDON_POLICY_FULL_COVERAGE) || !gaps || !gaps[0])
		return 0;
	return lookup_add_problem(
		l, EOPNOTSUPP,
		"policy %s requires full coverage, which this host does not provide: %s",
		is->policy, gaps[0]);
}

static int lower(struct lookup *l, const struct config_executor *is,
		 const struct compiled_policy *policy)
{
	const struct policy_limits asked = {.wall_nsec = is->timeout_nsec};
	struct failure failure = {};
	int r = limits_lower(&policy->limits, &asked, &l->limits, &failure);

	return r < 0 ? lookup_add_problem(l, r, "%s", failure.text) : 0;
}

/* The kernel compares patterns only by prefix. */
static int check_variables(struct lookup *l, const struct compiled_policy *policy)
{
	int r = 0;

	if (policy->environment.keep_all)
		return 0;
	for (char **keep = policy->environment.keep; r == 0 && *keep; keep++) {
		size_t length = strlen(*keep), plain = strcspn(*keep, "*?[\\");
		bool pattern = plain + 1 == length && (*keep)[plain] == '*';

		if ((plain < length && !pattern) || length + 2 > CORDON_ADOPT_TEXT)
			r = lookup_add_problem(
				l, EINVAL,
				"its policy %s keeps variables like \"%s\"; under an executor only "
				"names and NAME* can be kept",
				policy->name, *keep);
	}
	return r;
}

static int bind_directory(struct lookup *l, const struct compiled_policy *policy, const char *name,
			  const char *path)
{
	char *const *names = policy->anchor_names;
	_cleanup_(freep) char *what = NULL;
	_cleanup_(closep) int fd = -1;
	size_t anchor = 0;
	int r;

	while (anchor < CORDON_MAX_ANCHORS && (!names[anchor] || strcmp(names[anchor], name) != 0))
		anchor++;
	if (anchor == CORDON_MAX_ANCHORS)
		return lookup_add_problem(l, EINVAL, "its policy %s has no ${%s}", policy->name,
					  name);
	if (asprintf(&what, "${%s},", name) < 0) {
		what = NULL;
		return -ENOMEM;
	}
	r = open_directory(l, what, path, &fd);
	if (r < 0 || fd < 0)
		return r;
	closep(&l->directories[anchor]);
	l->directories[anchor] = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return l->directories[anchor] < 0 ? lookup_add_problem(l, errno, "%s %s: %m", what, path)
					  : 0;
}

int lookup_policy(struct lookup *l, const struct config_executor *is,
		  const struct compiled_policy *policy, char *const *gaps)
{
	int r = 0;

	(void)((r = check_coverage(l, is, policy, gaps)) < 0 || (r = lower(l, is, policy)) < 0 ||
	       (r = check_variables(l, policy)) < 0);
	for (const char **at = is->binds; r == 0 && *at; at += 2)
		r = bind_directory(l, policy, at[0], at[1]);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up on this host what an entry of cordon.yaml names. */
#include "adopt/lookup.h"

#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/failure.h"
#include "base/walk.h"
#include "launch/identity.h"
#include "launch/lower_limits.h"

#define CGROUP_ROOT "/sys/fs/cgroup"
/* The kernel's own limit for one path. */
#define MAX_LINKS 40

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
	free(l->program);
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

/* Takes the last component away. */
static size_t parent_length(const char *path, size_t length)
{
	while (length > 0 && path[length - 1] != '/')
		length--;
	return length > 0 ? length - 1 : 0;
}

/*
 * As realpath(3), but what is not there, or cannot be looked at, is taken for what is no link.
 * -ELOOP; -ENAMETOOLONG.
 */
static int foresee(const char *path, char ret_path[PATH_MAX])
{
	char rest[PATH_MAX], target[PATH_MAX], whole[PATH_MAX];
	const char *at = rest;
	size_t length = 0, size;
	ssize_t link;
	int links = 0;

	snprintf(rest, sizeof(rest), "%s", path);
	while (at += strspn(at, "/"), (size = strcspn(at, "/")) > 0) {
		if (size <= 2 && strncmp(at, "..", size) == 0) {
			length = size == 2 ? parent_length(ret_path, length) : length;
			at += size;
			continue;
		}
		if (length + size + 2 > PATH_MAX)
			return -ENAMETOOLONG;
		ret_path[length] = '/';
		memcpy(ret_path + length + 1, at, size);
		ret_path[length + 1 + size] = '\0';
		at += size;
		link = readlink(ret_path, target, sizeof(target) - 1);
		if (link < 0) {
			length += 1 + size;
			continue;
		}
		if (++links > MAX_LINKS)
			return -ELOOP;
		target[link] = '\0';
		if ((size_t)snprintf(whole, sizeof(whole), "%s/%s", target, at) >= sizeof(whole))
			return -ENAMETOOLONG;
		memcpy(rest, whole, sizeof(rest));
		at = rest;
		length = target[0] == '/' ? 0 : length;
	}
	if (length == 0)
		ret_path[length++] = '/';
	ret_path[length] = '\0';
	return 0;
}

/* What the kernel compares with is what the name leads to. *ret_there: it leads to something. */
static int find_program(struct lookup *l, const char *what, const char *path,
			char ret_path[PATH_MAX], bool *ret_there)
{
	char found[PATH_MAX];
	int r = 0;

	*ret_there = realpath(path, found) != NULL;
	if (!*ret_there) {
		r = lookup_add_problem(l, errno, "%s %s: %m", what, path);
		if (foresee(path, found) < 0)
			snprintf(found, sizeof(found), "%s", path);
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

static int find_executable(struct lookup *l, const struct config_executor *is)
{
	char path[PATH_MAX];
	bool there;
	int r = find_program(l, "its program", is->executable, path, &there);

	if (r < 0)
		return r;
	l->program = strdup(path);
	return l->program ? 0 : -ENOMEM;
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

/*
 * cgroup2's id of a directory is its inode number; levels count from the root, which is 0. One that
 * is yet to be made lies below the next that is there.
 */
static int find_cgroup(struct lookup *l, const struct config_executor *is)
{
	char path[PATH_MAX];
	const size_t top = strlen(CGROUP_ROOT);
	size_t length;
	struct stat st;
	int r = 0;

	snprintf(path, sizeof(path), "%s%s", CGROUP_ROOT, is->cgroup);
	if (stat(path, &st) < 0)
		r = lookup_add_problem(l, errno, "the cgroup %s: %m", path);
	else
		l->has_cgroup = true;
	for (length = strlen(path); r == 0 && !l->has_cgroup && length > top;) {
		length = parent_length(path, length);
		path[length] = '\0';
		l->has_cgroup = stat(path, &st) == 0;
	}
	if (r < 0 || !l->has_cgroup)
		return r;
	l->cgroup = st.st_ino;
	for (const char *at = path + top; *at; at++)
		l->cgroup_level += at[0] == '/' && at[1] != '/' && at[1] != '\0';
	return 0;
}

/*
 * Not through links that agent code may have put there: it would choose where the next code works.
 */
static int open_directory(struct lookup *l, const char *what, const char *path, int *ret_fd)
{
	struct failure failure = {};
	int r = walk_directory(AT_FDCWD, path, what, ret_fd, &failure);

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
		"policy %s asks for full coverage, which this host does not give: %s", is->policy,
		gaps[0]);
}

static int lower(struct lookup *l, const struct config_executor *is,
		 const struct compiled_policy *policy)
{
	const struct policy_limits asked = {.wall_nsec = is->timeout_nsec};
	struct failure failure = {};
	int r = limits_lower(&policy->limits, &asked, &l->limits, &failure);

	return r < 0 ? lookup_add_problem(l, r, "%s", failure.text) : 0;
}

/* Of patterns the kernel compares how a name begins. */
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

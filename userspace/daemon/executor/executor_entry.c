/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry of cordon.yaml as the kernel needs it: names looked up, policy compiled, limits lowered.
 */
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#include "base/walk.h"
#include "daemon/executor/adopted.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/host/limits.h"
#include "launch/environment.h"
#include "launch/identity.h"
#include "policy/ask/evaluate.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

void executor_entry_free(struct executors *x, struct executor_entry *entry)
{
	if (!entry)
		return;
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		closep(&entry->directories[i]);
	if (entry->policy)
		policies_put(x->daemon->policies, entry->policy);
	free(entry->program);
	free(entry);
}

/* What the kernel compares with is what the name leads to. */
int executor_resolve(const char *path, const char *what, const struct config_executor *is,
		     char ret_path[PATH_MAX], struct failure *failure)
{
	if (!realpath(path, ret_path))
		return failure_set(failure, errno, "executor %s: %s %s: %m", is->name, what, path);
	if (strlen(ret_path) > CONFIG_PATH_MAX)
		return failure_set(failure, ENAMETOOLONG,
				   "executor %s: %s %s is %s, which is longer than %u bytes",
				   is->name, what, path, ret_path, CONFIG_PATH_MAX);
	return 0;
}

/*
 * Not through links that agent code may have put there: it would choose where the next code works.
 */
static int resolve_directory(const char *path, const struct config_executor *is,
			     char ret_path[PATH_MAX], struct failure *failure)
{
	_cleanup_(closep) int fd = -1;
	_cleanup_(freep) char *real = NULL, *what = NULL;
	int r;

	if (asprintf(&what, "executor %s: the directory", is->name) < 0) {
		what = NULL;
		return failure_set(failure, ENOMEM, "%m");
	}
	r = walk_directory(AT_FDCWD, path, what, &fd, failure);
	if (r == 0)
		r = walk_path_of(fd, &real);
	if (r < 0 || !real)
		return failure_set(failure, r, "%s %s: %m", what, path);
	if (strlen(real) > CONFIG_PATH_MAX)
		return failure_set(failure, ENAMETOOLONG, "%s %s is longer than %u bytes", what,
				   real, CONFIG_PATH_MAX);
	snprintf(ret_path, PATH_MAX, "%s", real);
	return 0;
}

static int find_program(struct executor_entry *entry, struct failure *failure)
{
	char path[PATH_MAX];
	int r = executor_resolve(entry->is->executable, "its program", entry->is, path, failure);

	if (r < 0)
		return r;
	entry->program = strdup(path);
	return entry->program ? 0 : failure_set(failure, ENOMEM, "%m");
}

static int find_user(const struct executors *x, const struct config_executor *is, uint32_t *ret_uid,
		     struct failure *failure)
{
	const struct passwd *user;

	if (identity_parse_id(is->user, ret_uid))
		return 0;
	user = getpwnam(is->user);
	if (!user)
		return failure_set(failure, ENOENT, "%s:%u: executor %s: there is no user %s",
				   x->path, is->line, is->name, is->user);
	*ret_uid = user->pw_uid;
	return 0;
}

/* cgroup2's id of a directory is its inode number; levels count from the root, which is 0. */
static int find_cgroup(const struct config_executor *is, struct cordon_executor *kernel,
		       struct failure *failure)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", CGROUP_ROOT, is->cgroup);
	if (stat(path, &st) < 0)
		return failure_set(failure, errno, "executor %s: the cgroup %s: %m", is->name,
				   path);
	kernel->cgroup = st.st_ino;
	kernel->cgroup_level = 0;
	for (const char *at = is->cgroup; *at; at++)
		kernel->cgroup_level += at[0] == '/' && at[1] != '/' && at[1] != '\0';
	return 0;
}

static void set_glob(struct cordon_glob *glob, const char *text)
{
	*glob = (struct cordon_glob){};
	if (!text)
		return;
	glob->length = (uint32_t)strlen(text);
	memcpy(glob->text, text, glob->length);
}

static int fill_kernel(struct executors *x, const struct executor_entry *entry,
		       const struct executor_entry *itself, struct failure *failure)
{
	struct cordon_executor *kernel = adoption_entry(x->adoption, entry->index);
	const struct config_executor *is = entry->is;
	int r = 0;

	memset(kernel, 0, sizeof(*kernel));
	snprintf(kernel->name, sizeof(kernel->name), "%s", is->name);
	if (is->away == CONFIG_AWAY_DENY)
		kernel->flags |= CORDON_EXECUTOR_DENY_AWAY;
	if (is->hold)
		kernel->flags |= CORDON_EXECUTOR_HOLD;
	if (is->no_input)
		kernel->flags |= CORDON_EXECUTOR_NO_INPUT;
	if (is->gate[0])
		kernel->flags |= CORDON_EXECUTOR_GATE;
	if (is->kind == CONFIG_CONTAINER)
		kernel->flags |= CORDON_EXECUTOR_CONTAINER;
	if (is->programs[0])
		kernel->flags |= CORDON_EXECUTOR_ONLY;
	if (is->except[0])
		kernel->flags |= CORDON_EXECUTOR_EXCEPT;
	if (entry->policy->policy->environment.keep_all)
		kernel->flags |= CORDON_EXECUTOR_KEEP_ALL;
	if (is->is_itself)
		kernel->flags |= CORDON_EXECUTOR_ITSELF;
	if (is->kind == CONFIG_SESSION)
		kernel->flags |= CORDON_EXECUTOR_SESSION;
	kernel->grace_msec = is->grace_msec;
	kernel->itself = itself ? itself->index + 1 : 0;
	set_glob(&kernel->arguments, is->arguments);
	set_glob(&kernel->child_arguments, is->child_arguments);
	if (is->user) {
		kernel->flags |= CORDON_EXECUTOR_UID;
		r = find_user(x, is, &kernel->uid, failure);
	}
	if (r == 0 && is->cgroup) {
		kernel->flags |= CORDON_EXECUTOR_CGROUP;
		r = find_cgroup(is, kernel, failure);
	}
	return r;
}

static int add_name(struct executors *x, const struct executor_entry *entry,
		    enum cordon_adopt_question question, const char *text, bool whole,
		    uint64_t value, struct failure *failure)
{
	int r = adoption_add_name(x->adoption, question, entry->index, text, whole, value);

	if (r < 0)
		return failure_set(failure, r,
				   "executor %s: \"%s\" cannot be put into the kernel: %m",
				   entry->is->name, text);
	return 0;
}

static int add_paths(struct executors *x, const struct executor_entry *entry, const char **paths,
		     struct failure *failure)
{
	char path[PATH_MAX];
	int r = 0;

	for (; r == 0 && *paths; paths++) {
		r = executor_resolve(*paths, "the program", entry->is, path, failure);
		if (r == 0)
			r = add_name(x, entry, CORDON_ADOPT_PROGRAM, path, true, 1, failure);
	}
	return r;
}

static int add_directories(struct executors *x, const struct executor_entry *entry,
			   struct failure *failure)
{
	char path[PATH_MAX + 1];
	int r = 0;

	for (const char **at = entry->is->workdir_under; r == 0 && *at; at++) {
		r = resolve_directory(*at, entry->is, path, failure);
		if (r == 0 && strcmp(path, "/") != 0)
			strcat(path, "/");
		if (r == 0)
			r = add_name(x, entry, CORDON_ADOPT_UNDER, path, false, 1, failure);
	}
	return r;
}

/* Those that a pattern would keep, and that make a loader or an interpreter load something. */
static int except_loading(struct executors *x, const struct executor_entry *entry,
			  struct failure *failure)
{
	char text[CORDON_ADOPT_TEXT];
	int r = 0;

	for (const char *const *name = environment_loading(); r == 0 && *name; name++) {
		size_t length = strlen(*name);
		bool pattern = (*name)[length - 1] == '*';

		snprintf(text, sizeof(text),
			 pattern ? "%.*s" : "%.*s=", (int)(pattern ? length - 1 : length), *name);
		r = add_name(x, entry, CORDON_ADOPT_KEEP, text, false, 0, failure);
	}
	return r;
}

static int add_variables(struct executors *x, const struct executor_entry *entry,
			 struct failure *failure)
{
	const struct policy_environment *environment = &entry->policy->policy->environment;
	char text[CORDON_ADOPT_TEXT];
	int r;

	if (environment->keep_all)
		return 0;
	r = except_loading(x, entry, failure);
	for (char **keep = environment->keep; r == 0 && *keep; keep++) {
		size_t length = strlen(*keep), plain = strcspn(*keep, "*?[\\");
		bool pattern = plain + 1 == length && (*keep)[plain] == '*';

		if ((plain < length && !pattern) || length + 2 > sizeof(text))
			return failure_set(
				failure, EINVAL,
				"executor %s: its policy %s keeps variables like \"%s\"; under "
				"an executor only names and NAME* can be kept",
				entry->is->name, entry->policy->policy->name, *keep);
		snprintf(text, sizeof(text),
			 pattern ? "%.*s" : "%.*s=", (int)(pattern ? plain : length), *keep);
		r = add_name(x, entry, CORDON_ADOPT_KEEP, text, false, 1, failure);
	}
	return r;
}

/* Limits that a cgroup holds, and packets that only a cgroup's programs see. */
static bool needs_cgroup(const struct executor_entry *entry)
{
	const struct policy_limits *limits = &entry->limits;
	struct cordon_policy_header header;
	const struct cordon_final *final;
	uint32_t state;

	if (limits->memory_bytes || limits->pids || limits->cpu_percent)
		return true;
	memcpy(&header, entry->policy->policy->tables, sizeof(header));
	state = header.start[CORDON_START_NET] & CORDON_STATE_MASK;
	if (state >= header.finals_count)
		return true;
	final = (const void *)(entry->policy->policy->tables + header.finals_offset +
			       (size_t)state * sizeof(*final));
	return (final->may_allow & CORDON_NET_RIGHTS) != 0;
}

static int take_policy(struct executors *x, struct executor_entry *entry, char **ret_message,
		       struct failure *failure)
{
	struct policy_limits asked = {.wall_nsec = entry->is->timeout_nsec};
	struct cordon_policy_header header;
	int r = policies_get(x->daemon->policies, entry->is->policy, false, &entry->policy,
			     ret_message, failure);

	if (r < 0)
		return failure_replace(failure, r, "executor %s: policy %s: %m", entry->is->name,
				       entry->is->policy);
	memcpy(&header, entry->policy->policy->tables, sizeof(header));
	if ((header.flags & CORDON_POLICY_FULL_COVERAGE) && x->daemon->gaps[0])
		return failure_set(
			failure, EOPNOTSUPP,
			"executor %s: policy %s asks for full coverage, which this host does "
			"not give: %s",
			entry->is->name, entry->is->policy, x->daemon->gaps[0]);
	r = limits_lower(&entry->policy->policy->limits, &asked, &entry->limits, failure);
	/*
	 * What an executor that is confined starts must not stay in the cgroup that dies with it.
	 */
	entry->cgroup = needs_cgroup(entry) || entry->is->itself;
	return r;
}

static int open_directory(struct executors *x, struct executor_entry *entry, const char *name,
			  const char *path, struct failure *failure)
{
	char *const *names = entry->policy->policy->anchor_names;
	_cleanup_(freep) char *what = NULL;
	_cleanup_(closep) int fd = -1;
	size_t anchor = 0;
	int r;

	while (anchor < CORDON_MAX_ANCHORS && (!names[anchor] || strcmp(names[anchor], name) != 0))
		anchor++;
	if (anchor == CORDON_MAX_ANCHORS)
		return failure_set(failure, EINVAL, "executor %s: its policy %s has no ${%s}",
				   entry->is->name, entry->policy->policy->name, name);
	if (asprintf(&what, "executor %s: ${%s},", entry->is->name, name) < 0) {
		what = NULL;
		return failure_set(failure, ENOMEM, "%m");
	}
	r = walk_directory(AT_FDCWD, path, what, &fd, failure);
	if (r < 0)
		return failure_set(failure, r, "%s %s: %m", what, path);
	entry->directories[anchor] = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (entry->directories[anchor] < 0)
		return failure_set(failure, errno, "%s %s: %m", what, path);
	r = enforcement_identify(x->daemon->enforcement, entry->directories[anchor],
				 &entry->anchors[anchor]);
	if (r < 0)
		return failure_set(failure, r, "executor %s: ${%s}, %s, cannot be identified: %m",
				   entry->is->name, name, path);
	return 0;
}

static int open_directories(struct executors *x, struct executor_entry *entry,
			    struct failure *failure)
{
	int r = 0;

	for (const char **at = entry->is->binds; r == 0 && *at; at += 2)
		r = open_directory(x, entry, at[0], at[1], failure);
	return r;
}

/* The other number of its pair, or the first pair that is free. -ENOSPC. */
static int choose_index(struct executors *x, const char *name, uint32_t *ret_index)
{
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTORS; i += 2) {
		const struct cordon_executor *pair[] = {adoption_entry(x->adoption, i),
							adoption_entry(x->adoption, i + 1)};

		if (strcmp(pair[0]->name, name) != 0 && strcmp(pair[1]->name, name) != 0)
			continue;
		*ret_index = (x->active >> i) & 1 ? i + 1 : i;
		return 0;
	}
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTORS; i += 2) {
		if (adoption_entry(x->adoption, i)->name[0] ||
		    adoption_entry(x->adoption, i + 1)->name[0])
			continue;
		*ret_index = i;
		return 0;
	}
	return -ENOSPC;
}

int executor_entry_make(struct executors *x, struct config *config,
			const struct config_executor *is, const struct executor_entry *itself,
			struct executor_entry **ret_entry, char **ret_message,
			struct failure *failure)
{
	struct executor_entry *entry = calloc(1, sizeof(*entry));
	int r;

	if (!entry)
		return failure_set(failure, ENOMEM, "%m");
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		entry->directories[i] = -1;
	entry->config = config;
	entry->is = is;
	r = choose_index(x, is->name, &entry->index);
	if (r < 0)
		failure_set(failure, r,
			    "executor %s: too many names since cordon was loaded; `cordon disable` "
			    "forgets them",
			    is->name);
	if (r == 0)
		r = take_policy(x, entry, ret_message, failure);
	if (r == 0)
		executor_check_approval(x, entry);
	if (r == 0)
		r = open_directories(x, entry, failure);
	if (r == 0)
		r = find_program(entry, failure);
	if (r == 0) {
		standby_give_back(x, entry->index);
		adoption_remove_names(x->adoption, entry->index);
		r = fill_kernel(x, entry, itself, failure);
	}
	(void)(r < 0 || (r = add_paths(x, entry, is->programs, failure)) < 0 ||
	       (r = add_paths(x, entry, is->except, failure)) < 0 ||
	       (r = add_directories(x, entry, failure)) < 0 ||
	       (r = add_variables(x, entry, failure)) < 0);
	if (r < 0) {
		executor_entry_free(x, entry);
		return r;
	}
	*ret_entry = entry;
	return 0;
}

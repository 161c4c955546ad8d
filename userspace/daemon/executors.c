/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/executors.h"

#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/uuid.h"
#include "daemon/adopted.h"
#include "daemon/limits.h"
#include "daemon/protocol.h"
#include "daemon/workdir.h"
#include "launch/environment.h"
#include "policy/evaluate.h"

/* The daemon says every second that it is there. Its death is noticed at once; this is for one that hangs. */
#define LEASE_NSEC  (10 * NSEC_PER_SEC)
#define RENEW_USEC  1000000
#define CGROUP_ROOT "/sys/fs/cgroup"

struct executors {
	struct daemon *daemon;
	const char *path;
	struct adoption *adoption;
	struct executor_entry *entries[CORDON_MAX_EXECUTORS];
	uint64_t active;
	struct event *timer;
};

/* --- putting an entry together ------------------------------------------------------------- */

static void entry_free(struct executors *x, struct executor_entry *entry)
{
	if (!entry)
		return;
	if (entry->policy)
		policies_put(x->daemon->policies, entry->policy);
	free(entry);
}

/* What the kernel compares with is what the name leads to. */
static int resolve(const char *path, const char *what, const struct config_executor *is,
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

static int find_user(const struct config_executor *is, uint32_t *ret_uid, struct failure *failure)
{
	const struct passwd *user;

	if (strspn(is->user, "0123456789") == strlen(is->user)) {
		*ret_uid = (uint32_t)strtoul(is->user, NULL, 10);
		return 0;
	}
	user = getpwnam(is->user);
	if (!user)
		return failure_set(failure, ENOENT, "executor %s: there is no user %s", is->name,
				   is->user);
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
		       struct failure *failure)
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
	if (is->programs[0])
		kernel->flags |= CORDON_EXECUTOR_ONLY;
	if (is->except[0])
		kernel->flags |= CORDON_EXECUTOR_EXCEPT;
	if (entry->policy->policy->environment.keep_all)
		kernel->flags |= CORDON_EXECUTOR_KEEP_ALL;
	set_glob(&kernel->arguments, is->arguments);
	set_glob(&kernel->child_arguments, is->child_arguments);
	if (is->user) {
		kernel->flags |= CORDON_EXECUTOR_UID;
		r = find_user(is, &kernel->uid, failure);
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
		r = resolve(*paths, "the program", entry->is, path, failure);
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
		r = resolve(*at, "the directory", entry->is, path, failure);
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
	entry->cgroup = needs_cgroup(entry);
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

static void give_back(struct executors *x, uint32_t index);

static int make_entry(struct executors *x, struct config *config, const struct config_executor *is,
		      struct executor_entry **ret_entry, char **ret_message,
		      struct failure *failure)
{
	struct executor_entry *entry = calloc(1, sizeof(*entry));
	int r;

	if (!entry)
		return failure_set(failure, ENOMEM, "%m");
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
	if (r == 0) {
		give_back(x, entry->index);
		adoption_remove_names(x->adoption, entry->index);
		r = fill_kernel(x, entry, failure);
	}
	(void)(r < 0 || (r = add_paths(x, entry, is->programs, failure)) < 0 ||
	       (r = add_paths(x, entry, is->except, failure)) < 0 ||
	       (r = add_directories(x, entry, failure)) < 0 ||
	       (r = add_variables(x, entry, failure)) < 0);
	if (r < 0) {
		entry_free(x, entry);
		return r;
	}
	*ret_entry = entry;
	return 0;
}

/* --- executions that stand ready ---------------------------------------------------------- */

static void give_back(struct executors *x, uint32_t index)
{
	const struct cordon_executor *kernel = adoption_entry(x->adoption, index);

	for (size_t i = 0; i < CORDON_MAX_STANDBY; i++) {
		uint64_t place = __atomic_load_n(&kernel->standby[i], __ATOMIC_ACQUIRE);
		uint32_t slot = (uint32_t)place;

		if (place && adoption_withdraw(x->adoption, index, slot, (uint32_t)(place >> 32)))
			(void)enforcement_release(x->daemon->enforcement, slot);
	}
}

static int bind_one(struct executors *x, const struct executor_entry *entry)
{
	struct enforcement *enforcement = x->daemon->enforcement;
	struct enforcement_binding binding = {
		.policy = entry->policy->ref,
		.executor = entry->index + 1,
	};
	uint32_t slot;
	int r = uuid_generate_v7(binding.id);

	if (r == 0)
		r = enforcement_bind(enforcement, &binding, &slot);
	if (r < 0)
		return r;
	if (adoption_offer(x->adoption, entry->index, slot,
			   enforcement_execution(enforcement, slot)->generation))
		return 0;
	(void)enforcement_release(enforcement, slot);
	return -ENOSPC;
}

static void refill(struct executors *x, const struct executor_entry *entry)
{
	const struct cordon_executor *kernel = adoption_entry(x->adoption, entry->index);
	size_t missing = 0;

	for (size_t i = 0; i < CORDON_MAX_STANDBY; i++)
		missing += __atomic_load_n(&kernel->standby[i], __ATOMIC_ACQUIRE) == 0;
	while (missing-- > 0)
		if (bind_one(x, entry) < 0)
			return;
}

void executors_look_after(struct executors *x)
{
	if (!x || !x->active)
		return;
	adoption_renew(x->adoption, clock_nsec(CLOCK_BOOTTIME) + LEASE_NSEC);
	if (x->daemon->leaving)
		return;
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTORS; i++)
		if ((x->active >> i) & 1 && x->entries[i])
			refill(x, x->entries[i]);
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
	const struct timeval after = {.tv_sec = RENEW_USEC / 1000000};
	struct executors *x = context;

	(void)fd;
	(void)what;
	executors_look_after(x);
	adopted_scan(x->daemon);
	if (x->active)
		evtimer_add(x->timer, &after);
}

/* --- the configuration as a whole --------------------------------------------------------- */

static int note_directory(struct executors *x, const char *path)
{
	int r = strlen(path) > CONFIG_PATH_MAX
			? 0
			: adoption_add_name(x->adoption, CORDON_ADOPT_DIRECTORY, 0, path, true, 1);

	return r < 0 ? r : 0;
}

/* The kernel refuses these by name; the daemon looks again, by identity, before anything runs. */
static int refuse_directories(struct executors *x, struct failure *failure)
{
	_cleanup_(fclosep) FILE *users = fopen(DAEMON_PASSWD, "re");
	const struct passwd *user;
	char path[PATH_MAX];
	int r = 0;

	for (const char *const *at = workdir_system_directories(); r == 0 && *at; at++)
		r = note_directory(x, realpath(*at, path) ? path : *at);
	while (r == 0 && users && (user = fgetpwent(users)) != NULL)
		if (user->pw_dir[0] == '/' && realpath(user->pw_dir, path))
			r = note_directory(x, path);
	if (r < 0)
		return failure_set(failure, r, "directories cannot be put into the kernel: %m");
	return 0;
}

static bool names_program(const struct executor_entry *entry, const char *path)
{
	char own[PATH_MAX];

	return realpath(entry->is->executable, own) && strcmp(own, path) == 0;
}

/* One name leads to all entries for that program, those that are to be in force included. */
static int add_executables(struct executors *x, struct executor_entry *const *fresh, size_t count,
			   struct failure *failure)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		char path[PATH_MAX];
		uint64_t mask = 0;

		r = resolve(fresh[i]->is->executable, "its program", fresh[i]->is, path, failure);
		if (r < 0)
			return r;
		for (size_t j = 0; j < count; j++)
			if (names_program(fresh[j], path))
				mask |= 1ull << fresh[j]->index;
		mask |= adoption_whole_name(x->adoption, CORDON_ADOPT_EXECUTOR, 0, path) &
			x->active;
		r = adoption_add_name(x->adoption, CORDON_ADOPT_EXECUTOR, 0, path, true, mask);
		if (r < 0)
			return failure_set(failure, r,
					   "executor %s: cannot be put into the kernel: %m",
					   fresh[i]->is->name);
	}
	return r;
}

static void switch_to(struct executors *x, struct executor_entry **fresh, size_t count)
{
	struct executor_entry *old[CORDON_MAX_EXECUTORS];
	struct config *old_config = NULL;
	uint64_t active = 0, before = x->active;

	memcpy(old, x->entries, sizeof(old));
	memset(x->entries, 0, sizeof(x->entries));
	for (size_t i = 0; i < count; i++) {
		x->entries[fresh[i]->index] = fresh[i];
		active |= 1ull << fresh[i]->index;
		refill(x, fresh[i]);
	}
	adoption_renew(x->adoption, clock_nsec(CLOCK_BOOTTIME) + LEASE_NSEC);
	adoption_switch(x->adoption, active);
	x->active = active;
	for (uint32_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		if ((before >> i) & 1 && !((active >> i) & 1))
			give_back(x, i);
		if (old[i])
			old_config = old[i]->config;
		entry_free(x, old[i]);
	}
	if (old_config)
		config_free(old_config);
	on_timer(-1, 0, x);
}

static int read_file(struct executors *x, struct config **ret_config, char **ret_message,
		     struct failure *failure)
{
	_cleanup_(diagnostics_freep) struct diagnostics *diagnostics = diagnostics_new();
	int r;

	if (!diagnostics)
		return failure_set(failure, ENOMEM, "%m");
	r = config_load(x->path, diagnostics, ret_config);
	if (r == -ENOENT)
		return r;
	if (r < 0) {
		*ret_message = diagnostics_format(diagnostics, 0);
		return failure_set(failure, r, "%s: %m", x->path);
	}
	return 0;
}

static int put_into_force(struct executors *x, struct config *config, char **ret_message,
			  struct failure *failure)
{
	struct executor_entry *fresh[CONFIG_EXECUTORS_MAX] = {};
	size_t count = config_executor_count(config), made = 0;
	int r = refuse_directories(x, failure);

	for (; r == 0 && made < count; made++) {
		r = make_entry(x, config, config_executor_at(config, made), &fresh[made],
			       ret_message, failure);
		if (r < 0)
			break;
	}
	if (r == 0)
		r = add_executables(x, fresh, count, failure);
	if (r < 0) {
		for (size_t i = 0; i < made; i++)
			entry_free(x, fresh[i]);
		return r;
	}
	switch_to(x, fresh, count);
	return 0;
}

static int reload(struct executors *x, size_t *ret_count, char **ret_message,
		  struct failure *failure)
{
	struct config *config = NULL;
	int r;

	r = read_file(x, &config, ret_message, failure);
	if (r == -ENOENT) {
		executors_clear(x);
		*ret_count = 0;
		return 0;
	}
	if (r == 0)
		r = put_into_force(x, config, ret_message, failure);
	if (r < 0) {
		if (config)
			config_free(config);
		return r;
	}
	*ret_count = config_executor_count(config);
	if (*ret_count == 0)
		config_free(config);
	return 0;
}

int executors_load(struct executors *x, size_t *ret_count, struct failure *failure)
{
	_cleanup_(freep) char *message = NULL;
	uint64_t before = x->active;
	int r = reload(x, ret_count, &message, failure);

	if (r < 0) {
		if (message && *message)
			failure_replace(failure, r, "%s", message);
		daemon_record(x->daemon, "configuration-refused",
			      json_pack("{s:s,s:s}", "file", x->path, "error", failure->text));
		return r;
	}
	if (*ret_count == 0 && !before)
		return 0;
	daemon_record(x->daemon, "configuration",
		      json_pack("{s:s,s:o}", "file", x->path, "executors", executors_json(x)));
	daemon_say(x->daemon, "%s: %zu executors", x->path, *ret_count);
	return 0;
}

int executors_start(struct daemon *daemon, const char *path, struct executors **ret_executors,
		    struct failure *failure)
{
	struct executors *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return failure_set(failure, ENOMEM, "%m");
	x->daemon = daemon;
	x->path = path;
	x->timer = evtimer_new(daemon->base, on_timer, x);
	r = x->timer ? adoption_open(&x->adoption, failure) : -ENOMEM;
	if (r < 0) {
		executors_free(x);
		return r;
	}
	/* What an earlier daemon put into force. */
	x->active = adoption_state(x->adoption)->active;
	*ret_executors = x;
	return 0;
}

void executors_clear(struct executors *x)
{
	switch_to(x, NULL, 0);
}

void executors_free(struct executors *x)
{
	struct config *config = NULL;

	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		if (x->entries[i])
			config = x->entries[i]->config;
		entry_free(x, x->entries[i]);
	}
	if (config)
		config_free(config);
	if (x->timer)
		event_free(x->timer);
	if (x->adoption)
		adoption_close(x->adoption);
	free(x);
}

const struct executor_entry *executors_entry(const struct executors *x, uint32_t index)
{
	if (!x || index >= CORDON_MAX_EXECUTORS)
		return NULL;
	return x->entries[index] ? x->entries[index] : x->entries[index ^ 1];
}

size_t executors_count(const struct executors *x)
{
	size_t count = 0;

	for (size_t i = 0; x && i < CORDON_MAX_EXECUTORS; i++)
		count += x->entries[i] != NULL;
	return count;
}

json_t *executors_json(const struct executors *x)
{
	json_t *list = json_array();

	for (size_t i = 0; x && i < CORDON_MAX_EXECUTORS; i++) {
		const struct executor_entry *entry = x->entries[i];

		if (entry)
			json_array_append_new(
				list, json_pack("{s:s,s:s,s:s,s:s}", "name", entry->is->name,
						"kind", config_kind_name(entry->is->kind),
						"executable", entry->is->executable, "policy",
						entry->policy->policy->name));
	}
	return list;
}

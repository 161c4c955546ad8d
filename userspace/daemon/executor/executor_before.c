/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that an entry matches and that were there before it was in force: nobody recognised
 * them when they were started, and what they start is confined once they are adopted.
 */
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>

#include "base/proc.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/host/process.h"
#include "daemon/privsep/errand.h"

/* All of /proc is looked through, whatever load there is. */
#define SCAN_SECONDS 60
/* That are told one by one. */
#define BEFORE_MAX    32u
#define ARGUMENTS_MAX (8u << 20) /* the kernel's own limit, with the environment */

struct executor_before {
	pid_t pid, parent;
	uint64_t start_nsec;  /* boot clock */
	char name[80];	      /* of the entry */
	bool confines_itself; /* it is not to be adopted */
	bool began_later;     /* than the entry was active: by a name that led elsewhere by then */
};

/* --- in a process of its own: which are there ------------------------------------------------ */

/* '*' stands for any text. */
static bool matches(const char *pattern, const char *text)
{
	const char *star = NULL, *star_text = NULL;

	for (;;) {
		if (*pattern == '*') {
			star = pattern++;
			star_text = text;
		} else if (!*text) {
			return !*pattern;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++star_text;
		} else {
			return false;
		}
	}
}

/* One of those behind the program's name. */
static bool has_argument(pid_t pid, const char *pattern)
{
	_cleanup_(freep) char *text = NULL;
	size_t size, at;

	if (!pattern)
		return true;
	if (proc_read(pid, "cmdline", ARGUMENTS_MAX, &text, &size) < 0 || size == 0)
		return false;
	at = strnlen(text, size) + 1;
	while (at < size) {
		if (matches(pattern, text + at))
			return true;
		at += strnlen(text + at, size - at) + 1;
	}
	return false;
}

static bool is_below(pid_t pid, const char *cgroup)
{
	_cleanup_(freep) char *path = NULL;
	size_t length = cgroup ? strlen(cgroup) : 0;

	if (!cgroup)
		return true;
	while (length > 0 && cgroup[length - 1] == '/')
		length--;
	return proc_cgroup(pid, &path) == 0 && strncmp(path, cgroup, length) == 0 &&
	       (path[length] == '/' || path[length] == '\0');
}

/*
 * As the kernel does at an exec. Its own entries are in a map, and an errand has none. The program
 * may have been replaced since it was started.
 */
static bool is_executor(const struct executor_entry *entry, pid_t pid, const char *program)
{
	static const char deleted[] = " (deleted)";
	const struct config_executor *is = entry->is;
	size_t length = strlen(program), tail = sizeof(deleted) - 1;
	char path[PATH_MAX];
	uid_t uid;

	if (length > tail && strcmp(program + length - tail, deleted) == 0)
		length -= tail;
	snprintf(path, sizeof(path), "%.*s", (int)length, program);
	if (is->is_itself || is->kind == CONFIG_CONTAINER ||
	    (!executor_entry_runs(entry, program) && !executor_entry_runs(entry, path)))
		return false;
	/* Of a user that nobody knows, there is no process either. */
	if (is->user &&
	    (entry->uid == (uid_t)-1 || process_uid(pid, &uid) < 0 || uid != entry->uid))
		return false;
	return is_below(pid, is->cgroup) && has_argument(pid, is->arguments);
}

static bool find_entry(const struct executors *x, pid_t pid, struct executor_before *ret_found)
{
	struct process_status status;
	char program[PATH_MAX];

	/* A thread of the kernel's, or gone. */
	if (proc_readlink(pid, "exe", program) < 0)
		return false;
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++) {
		const struct executor_entry *entry = x->entries[i];

		if (!entry || !is_executor(entry, pid, program))
			continue;
		if (process_status(pid, &status) < 0)
			return false;
		*ret_found = (struct executor_before){
			.pid = pid,
			.parent = status.parent,
			.start_nsec = status.start_nsec,
			.confines_itself = entry->is->itself,
			.began_later = status.start_nsec > entry->since,
		};
		snprintf(ret_found->name, sizeof(ret_found->name), "%s", entry->is->name);
		return true;
	}
	return false;
}

static int find_all(const struct executors *x, struct executor_before **list, size_t *count)
{
	_cleanup_(closedirp) DIR *proc = opendir("/proc");
	const struct dirent *item;
	struct executor_before found, *larger;

	if (!proc)
		return -errno;
	while ((item = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(item->d_name, NULL, 10);

		if (pid <= 1 || !find_entry(x, pid, &found))
			continue;
		larger = reallocarray(*list, *count + 1, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		*list = larger;
		larger[(*count)++] = found;
	}
	return 0;
}

static bool is_listed(const struct executor_before *list, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].pid == pid)
			return true;
	return false;
}

/* What such a process has forked is its affair: the topmost are told. */
static int scan(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure)
{
	_cleanup_(freep) struct executor_before *list = NULL;
	size_t count = 0;
	int r = find_all(context, &list, &count);

	(void)fds;
	if (r < 0)
		return failure_set(failure, r, "cannot look through /proc: %m");
	for (size_t i = 0; i < count; i++)
		if (!is_listed(list, count, list[i].parent))
			fwrite(&list[i], sizeof(list[i]), 1, to);
	return ferror(to) ? failure_set(failure, EIO, "what was found cannot be told") : 0;
}

/* --- in the loop: which of them nobody has --------------------------------------------------- */

static bool is_recognised(const struct adoption_executor *running, size_t count,
			  const struct executor_before *found)
{
	for (size_t i = 0; i < count; i++)
		/* /proc counts in hundredths of a second. */
		if (running[i].pid == (uint32_t)found->pid &&
		    running[i].start_nsec / (10 * NSEC_PER_MSEC) ==
			    found->start_nsec / (10 * NSEC_PER_MSEC))
			return true;
	return false;
}

static bool is_execution(const struct executors *x, pid_t pid)
{
	_cleanup_(closep) int pidfd = pidfd_open(pid, 0);
	uint32_t slot, generation;

	return pidfd < 0 ||
	       enforcement_label_of(x->daemon->enforcement, pidfd, &slot, &generation) == 0;
}

static bool is_known(const struct executors *x, const struct executor_before *found)
{
	for (size_t i = 0; i < x->before_count; i++)
		if (x->before[i].pid == found->pid && x->before[i].start_nsec == found->start_nsec)
			return true;
	return false;
}

static json_t *found_json(const struct executor_before *found)
{
	uint64_t boot = clock_nsec(CLOCK_REALTIME) - clock_nsec(CLOCK_BOOTTIME);
	char when[CLOCK_TEXT_SIZE], remedy[128];

	clock_format(boot + found->start_nsec, when);
	if (found->confines_itself)
		snprintf(remedy, sizeof(remedy),
			 "start it again: its entry has a policy for itself");
	else
		snprintf(remedy, sizeof(remedy), "cordon adopt --executor %s %d", found->name,
			 (int)found->pid);
	return json_pack("{s:s,s:i,s:s,s:s}", "executor", found->name, "pid", (int)found->pid,
			 "since", when, "remedy", remedy);
}

static void tell(const struct executors *x, const struct executor_before *found)
{
	json_t *object = found_json(found);

	daemon_say(x->daemon,
		   "executor %s: process %d ran before cordon knew of it, and what it starts is "
		   "not confined: %s",
		   found->name, (int)found->pid,
		   json_string_value(json_object_get(object, "remedy")));
	daemon_alert(x->daemon, "executor-before", object);
}

static const struct executor_entry *entry_named(const struct executors *x, const char *name)
{
	for (size_t i = 0; i < CORDON_MAX_EXECUTORS; i++)
		if (x->entries[i] && strcmp(x->entries[i]->is->name, name) == 0)
			return x->entries[i];
	return NULL;
}

/* It was to be recognised when it began. False: it cannot be registered now. */
static bool register_now(const struct executors *x, const struct executor_before *found)
{
	const struct executor_entry *entry = entry_named(x, found->name);
	_cleanup_(closep) int pidfd = pidfd_open(found->pid, 0);
	uint32_t threads = 0, children = 0;
	char program[PATH_MAX];

	if (!found->began_later || found->confines_itself || !entry || pidfd < 0 ||
	    !process_alive(found->pid, found->start_nsec) ||
	    proc_readlink(found->pid, "exe", program) < 0 ||
	    adoption_register(entry->index, found->pid, pidfd, &threads, &children) < 0)
		return false;
	daemon_record(x->daemon, "executor-registered",
		      json_pack("{s:s,s:i,s:s,s:i,s:i,s:i}", "executor", found->name, "pid",
				(int)found->pid, "program", program, "threads", (int)threads,
				"children", (int)children, "by", (int)geteuid()));
	return true;
}

/* Takes `list` over. */
static void take(struct executors *x, struct executor_before *list, size_t count, size_t all)
{
	for (size_t i = 0; i < count; i++)
		if (!is_known(x, &list[i]))
			tell(x, &list[i]);
	free(x->before);
	x->before = list;
	x->before_count = count;
	x->before_all = all;
}

static void sort_out(struct executors *x, const struct executor_before *found, size_t count)
{
	_cleanup_(freep) struct adoption_executor *running = NULL;
	struct executor_before *list = calloc(BEFORE_MAX, sizeof(*list));
	size_t running_count = 0, kept = 0, all = 0;

	if (!list || adoption_list_executors(x->adoption, &running, &running_count) < 0) {
		free(list);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (is_recognised(running, running_count, &found[i]) || register_now(x, &found[i]))
			continue;
		/* Each asks the kernel: of more than can be told, how many there are is enough. */
		if (kept < BEFORE_MAX && is_execution(x, found[i].pid))
			continue;
		all++;
		if (kept < BEFORE_MAX)
			list[kept++] = found[i];
	}
	take(x, list, kept, all);
}

static void on_scanned(void *context, int result, const char *data, size_t size,
		       struct errand_fds *fds, const struct failure *failure)
{
	struct executors *x = context;

	(void)fds;
	x->scanning = NULL;
	if (result < 0)
		daemon_say(x->daemon, "executors that run already are not looked for: %s",
			   failure->text);
	else
		sort_out(x, (const void *)data, size / sizeof(struct executor_before));
}

void executor_before_look(struct executors *x)
{
	const struct errand_job job = {
		.what = "what looks for executors that run already",
		.seconds = SCAN_SECONDS,
		.work = scan,
		.done = on_scanned,
		.context = x,
	};
	struct failure failure = {};

	errand_cancel(TAKE_PTR(x->scanning));
	if (errand_start(x->daemon->base, &job, &x->scanning, &failure) < 0)
		daemon_say(x->daemon, "executors that run already are not looked for: %s",
			   failure.text);
}

void executor_before_forget(struct executors *x, pid_t pid)
{
	for (size_t i = 0; i < x->before_count; i++) {
		if (x->before[i].pid != pid)
			continue;
		x->before[i] = x->before[--x->before_count];
		x->before_all--;
		return;
	}
}

void executor_before_clear(struct executors *x)
{
	errand_cancel(TAKE_PTR(x->scanning));
	free(TAKE_PTR(x->before));
	x->before_count = x->before_all = 0;
}

json_t *executor_before_json(const struct executors *x)
{
	json_t *list = json_array();

	for (size_t i = 0; x && i < x->before_count; i++)
		if (process_alive(x->before[i].pid, x->before[i].start_nsec))
			json_array_append_new(list, found_json(&x->before[i]));
	return list;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/adopted.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "adopt/process_code.h"
#include "audit/policy_store.h"
#include "base/clock.h"
#include "base/hex.h"
#include "daemon/ending.h"
#include "daemon/events.h"
#include "daemon/executors.h"
#include "daemon/process.h"
#include "daemon/state.h"
#include "daemon/tmpdir.h"
#include "daemon/workdir.h"
#include "launch/resource.h"

/* --- becoming known ----------------------------------------------------------------------- */

static const struct executor_entry *entry_of(const struct execution *e)
{
	return executors_entry(e->daemon->executors, e->view->executor - 1);
}

static char *copy_or(const char *text, size_t length, const char *otherwise)
{
	return length > 0 ? strndup(text, length) : strdup(otherwise);
}

static char *read_cwd(pid_t pid)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
	n = readlink(link, path, sizeof(path));
	return n > 0 && (size_t)n < sizeof(path) ? strndup(path, (size_t)n) : strdup("/");
}

static void on_leader(evutil_socket_t fd, short what, void *context);
static void on_owner(evutil_socket_t fd, short what, void *context);

/*
 * A pidfd's event; NULL: the process is gone, or there is no memory for it. The number may have passed to
 * another process while no daemon watched: one that is younger than `latest` (boot clock, ns).
 */
static struct event *watch(struct execution *e, pid_t pid, uint64_t latest, event_callback_fn call)
{
	_cleanup_(closep) int fd = pidfd_open(pid, 0);
	struct process_status status;
	struct event *event;

	if (fd < 0 || process_status(pid, &status) < 0 || status.start_nsec > latest)
		return NULL;
	event = event_new(e->daemon->base, fd, EV_READ, call, e);
	if (!event || event_add(event, NULL) < 0) {
		if (event)
			event_free(event);
		return NULL;
	}
	(void)TAKE_FD(fd);
	return event;
}

static void unwatch(struct event **event)
{
	int fd;

	if (!*event)
		return;
	fd = event_get_fd(*event);
	event_free(*event);
	*event = NULL;
	close(fd);
}

void adopted_release(struct execution *e)
{
	unwatch(&e->leader_event);
	unwatch(&e->owner_event);
}

/* The executor may have gone by now. */
static void watch_both(struct execution *e)
{
	e->leader_event = watch(e, e->leader, e->view->adopted, on_leader);
	e->owner_event = watch(e, e->owner, e->owner_start, on_owner);
	if (!e->leader_event)
		ending_leader_gone(e);
	else if (!e->owner_event)
		ending_owner_gone(e);
}

static struct execution *make_known(struct daemon *daemon, uint32_t slot,
				    const struct cordon_adopt_event *event)
{
	const struct cordon_execution *view = enforcement_execution(daemon->enforcement, slot);
	const struct executor_entry *entry = executors_entry(daemon->executors, view->executor - 1);
	struct execution *e = execution_adopted(daemon, slot, view);
	const char *workdir = event ? (const char *)event->data : NULL;

	if (!e)
		return NULL;
	e->leader = (pid_t)view->leader;
	e->start = view->adopted;
	e->record.executor = strdup(entry ? entry->is->name : "unknown");
	e->record.workdir = event ? copy_or(workdir, event->workdir_length, "/")
				  : read_cwd(e->leader);
	e->record.program =
		event ? copy_or(workdir + event->workdir_length, event->program_length, "unknown")
		      : strdup("unknown");
	if (entry) {
		e->record.agent = entry->is->agent ? strdup(entry->is->agent) : NULL;
		e->record.session = entry->is->session ? strdup(entry->is->session) : NULL;
		e->record.limits = entry->limits;
		e->policy = entry->policy;
		policies_share(daemon->policies, e->policy);
		e->record.policy = e->policy->policy;
		e->record.observe = e->policy->policy->observe;
		e->policy_name = strdup(entry->is->policy);
	}
	if (event) {
		e->record.uid = event->event.uid;
		e->record.gid = event->event.gid;
	}
	if (!e->record.executor || !e->record.workdir || !e->record.program || !entry ||
	    logs_get(daemon->logs, logs_directory(daemon->log), &e->log, NULL) < 0) {
		/* Of an entry that nobody knows any more: it does not get to run. */
		(void)enforcement_kill(daemon->enforcement, slot, &(unsigned int){0});
		execution_free(e);
		return NULL;
	}
	watch_both(e);
	return e;
}

static void record_refusal(struct daemon *daemon, const struct cordon_adopt_event *event)
{
	static const char *const reasons[CORDON_ADOPT_REASON_COUNT] = {
		[CORDON_ADOPTED] = "nothing",
		[CORDON_ADOPT_AWAY] = "no daemon was there, and the entry says when_away: deny",
		[CORDON_ADOPT_EXHAUSTED] = "no execution stood ready",
		[CORDON_ADOPT_WORKDIR] = "its current directory cannot be a work directory",
		[CORDON_ADOPT_OUTSIDE] = "its current directory is not below workdir_under",
		[CORDON_ADOPT_NO_LABEL] = "no memory for a label",
	};
	const struct executor_entry *entry = executors_entry(daemon->executors, event->executor);
	const char *data = (const char *)event->data;
	_cleanup_(freep) char *text = NULL;

	if (asprintf(&text, "executor %s: %.*s in %.*s, process %u: %s",
		     entry ? entry->is->name : "unknown", (int)event->program_length,
		     data + event->workdir_length,
		     event->workdir_length ? (int)event->workdir_length : 1,
		     event->workdir_length ? data : "?", event->event.tgid,
		     event->reason < CORDON_ADOPT_REASON_COUNT ? reasons[event->reason] : "?") <
	    0) {
		text = NULL;
		return;
	}
	(void)logs_append(daemon->log,
			  audit_record_refused(entry ? entry->is->policy : "", text,
					       event->event.uid, clock_nsec(CLOCK_REALTIME)));
	daemon_flush_soon(daemon);
}

static bool well_formed(const struct cordon_event *event, size_t size)
{
	const struct cordon_adopt_event *adopt = (const void *)event;

	return size >= sizeof(*adopt) && event->size <= size &&
	       (uint64_t)adopt->workdir_length + adopt->program_length <= size - sizeof(*adopt);
}

bool adopted_event(struct daemon *daemon, const struct cordon_event *event, size_t size)
{
	const struct cordon_execution *view;

	if (event->type == CORDON_EVENT_REFUSED) {
		if (!well_formed(event, size))
			return false;
		record_refusal(daemon, (const void *)event);
		executors_look_after(daemon->executors);
		return true;
	}
	if (event->slot >= CORDON_MAX_EXECUTIONS || daemon->by_slot[event->slot] ||
	    !daemon->executors)
		return false;
	view = enforcement_execution(daemon->enforcement, event->slot);
	/* Free: one that has ended, whose last event was late. */
	if (!view->executor || !view->adopted || view->generation != event->generation ||
	    view->state == CORDON_EXECUTION_FREE)
		return false;
	if (!make_known(daemon, event->slot,
			event->type == CORDON_EVENT_ADOPT && well_formed(event, size)
				? (const void *)event
				: NULL))
		return false;
	executors_look_after(daemon->executors);
	return true;
}

/* --- before the first instruction --------------------------------------------------------- */

static int note_process(struct execution *e, struct failure *failure)
{
	struct process_code code;
	int r = process_code_read(e->leader, e->record.policy->arguments == POLICY_ARGUMENTS_FULL,
				  &code, failure);

	if (r < 0)
		return r;
	free(e->record.program);
	e->record.program = code.program;
	e->record.argument_count = code.argument_count;
	e->record.arguments = code.arguments;
	e->record.arguments_length = code.arguments_length;
	memcpy(e->record.arguments_digest, code.arguments_digest, sizeof(code.arguments_digest));
	e->record.code = code.code;
	e->record.language = code.language ? strdup(code.language) : NULL;
	e->record.uid = code.uid;
	e->record.gid = code.gid;
	if (code.contradicted)
		return failure_set(failure, EBADMSG,
				   "the name of %s says another SHA-256 digest than the file has",
				   e->record.code.path);
	return 0;
}

static int check_place(struct execution *e, struct failure *failure)
{
	const char *const own[] = {PROTOCOL_DIRECTORY, logs_directory(e->log), NULL};
	_cleanup_(closep) int fd = -1;
	struct cordon_anchor anchor;
	char link[64];
	int r;

	snprintf(link, sizeof(link), "/proc/%d/cwd", e->leader);
	fd = open(link, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return failure_set(failure, errno, "the directory %s: %m", e->record.workdir);
	r = workdir_check(fd, DAEMON_PASSWD, own, failure);
	if (r < 0)
		return r;
	r = enforcement_identify(e->daemon->enforcement, fd, &anchor);
	if (r < 0 || memcmp(&anchor, &e->view->anchors[CORDON_ANCHOR_WORKDIR], sizeof(anchor)) != 0)
		return failure_set(failure, r < 0 ? r : ESTALE,
				   "the directory %s cannot be identified: %m", e->record.workdir);
	e->directories[e->directory_count++] = TAKE_FD(fd);
	return execution_note_directory(e, "workdir", e->directories[e->directory_count - 1]);
}

static int make_tmp(struct execution *e, struct failure *failure)
{
	struct cordon_anchor anchor;
	int fd, r;

	r = tmpdir_create(DAEMON_TMP_PARENT, e->name, e->record.uid, e->record.gid, &fd, failure);
	if (r < 0)
		return r;
	e->directories[e->directory_count++] = fd;
	e->have_tmp = true;
	r = enforcement_identify(e->daemon->enforcement, fd, &anchor);
	if (r == 0) {
		enforcement_bind_anchor(e->daemon->enforcement, e->slot, CORDON_ANCHOR_TMP,
					&anchor);
		r = execution_note_directory(e, "tmp", fd);
	}
	return r < 0 ? failure_set(failure, r, "${tmp}: %m") : 0;
}

static int apply_limits(struct execution *e, bool cgroup, struct failure *failure)
{
	_cleanup_(closep) int procs = -1;
	char text[32];
	int r = resource_limits_apply_to(e->leader, &e->record.limits);

	if (r < 0)
		return failure_set(failure, r, "limits of process %d: %m", e->leader);
	if (!cgroup)
		return 0;
	r = cgroup_create(&e->daemon->cgroups, e->id, &e->record.limits, &e->cgroup_fd,
			  &e->record.limits_missing, failure);
	if (r < 0)
		return r;
	procs = openat(e->cgroup_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	snprintf(text, sizeof(text), "%d\n", e->leader);
	if (procs < 0 || write(procs, text, strlen(text)) < 0)
		return failure_set(failure, errno, "process %d cannot be moved to its cgroup: %m",
				   e->leader);
	return 0;
}

/* What the kernel was not allowed to do. */
static int clean_environment(struct execution *e, struct failure *failure)
{
	const struct policy_environment *environment = &e->record.policy->environment;
	int r;

	if ((e->view->begun & CORDON_BEGUN_CLEAN) || environment->keep_all)
		return process_environment_note(e->leader, &e->record.environment_kept, failure);
	r = process_environment_clean(e->leader, environment, &e->record.environment_removed,
				      failure);
	if (r == 0)
		r = process_environment_note(e->leader, &e->record.environment_kept, failure);
	return r;
}

static int prepare(struct execution *e, struct failure *failure)
{
	const struct executor_entry *entry = entry_of(e);
	_cleanup_(closep) int pidfd = pidfd_open(e->leader, 0);
	int r = pidfd < 0 ? failure_set(failure, errno, "process %d: %m", e->leader) : 0;

	(void)(r < 0 || (r = clean_environment(e, failure)) < 0 ||
	       (r = note_process(e, failure)) < 0 || (r = check_place(e, failure)) < 0 ||
	       (r = make_tmp(e, failure)) < 0 ||
	       (r = execution_check_descriptors(e, pidfd, failure)) < 0 ||
	       (r = apply_limits(e, entry && entry->cgroup, failure)) < 0);
	return r;
}

/* As a client's request would say it: what the state file keeps. */
static json_t *request_of(const struct execution *e)
{
	const struct audit_execution *x = &e->record;
	char arguments[65], code[65];

	hex_encode(x->arguments_digest, 32, arguments);
	hex_encode(x->code.digest, 32, code);
	return json_pack(
		"{s:s,s:i,s:s,s:s,s:b,s:[],s:s?,s:s?,s:s?,s:s?,s:o,s:b,s:n,s:s,s:I,s:s,s:I,s:n,"
		"s:{s:s,s:s?,s:s?,s:I},s:I,s:I}",
		"op", "prepare", "version", PROTOCOL_VERSION, "policy", e->policy_name, "workdir",
		x->workdir, "home", 0, "binds", "session", x->session, "agent", x->agent,
		"executor", x->executor, "language", x->language, "limits",
		protocol_limits(&x->limits, false), "observe", x->observe, "log", "program",
		x->program, "argument_count", (json_int_t)x->argument_count, "arguments_sha256",
		arguments, "arguments_length", (json_int_t)x->arguments_length, "arguments", "code",
		"source", protocol_code_source_name(x->code.source), "path", x->code.path, "sha256",
		x->code.have_digest ? code : NULL, "length", (json_int_t)x->code.length, "uid",
		(json_int_t)x->uid, "gid", (json_int_t)x->gid);
}

static int write_start(struct execution *e, struct failure *failure)
{
	int r;

	if (e->started)
		return 0;
	r = logs_writable(e->log, failure);
	if (r == 0)
		r = policy_store_put(logs_directory(e->log), e->record.policy, failure);
	if (r >= 0)
		r = execution_write_start(e, failure);
	if (r < 0)
		return r;
	json_decref(e->request);
	e->request = request_of(e);
	r = e->request ? state_save(e->daemon->state_fd, e, failure)
		       : failure_set(failure, ENOMEM, "%m");
	events_release_early(e);
	return r;
}

static void refuse(struct execution *e, const struct failure *failure)
{
	(void)logs_append(e->log, audit_record_refused(e->policy_name, failure->text, e->record.uid,
						       clock_nsec(CLOCK_REALTIME)));
	daemon_flush_soon(e->daemon);
	ending_begin(e, e->started ? AUDIT_END_KILLED : AUDIT_END_NOT_STARTED);
}

void adopted_need_start(struct execution *e)
{
	struct failure failure = {};

	if (!e->adopted || e->started || e->unrecorded || e->state >= EXECUTION_ENDING)
		return;
	if (write_start(e, &failure) < 0) {
		e->unrecorded = true;
		refuse(e, &failure);
	}
}

static bool leader_runs(const struct execution *e)
{
	struct process_status status;

	return process_status(e->leader, &status) == 0 && status.state != 'Z' &&
	       status.state != 'X';
}

static void go_on(struct execution *e)
{
	if (enforcement_go_on(e->daemon->enforcement, e->slot) && e->leader_event)
		(void)pidfd_send_signal(event_get_fd(e->leader_event), SIGCONT, NULL, 0);
}

void adopted_begin(struct execution *e, const struct cordon_adopt_event *event)
{
	struct failure failure = {};
	bool held = e->view->state == CORDON_EXECUTION_HELD;
	int r;

	(void)event;
	if (e->begun || e->state >= EXECUTION_ENDING)
		return;
	e->begun = true;
	r = prepare(e, &failure);
	if (r == 0)
		r = write_start(e, &failure);
	if (r < 0 && !leader_runs(e)) {
		/* Killed, or it was not held and has ended: there is nothing to refuse. */
		adopted_need_start(e);
		return;
	}
	if (r < 0) {
		refuse(e, &failure);
		return;
	}
	execution_start_deadline(e);
	if (held)
		go_on(e);
}

/* --- its end ------------------------------------------------------------------------------ */

void adopted_exit(struct execution *e, const struct cordon_exit_event *event)
{
	if (!e->adopted || (pid_t)event->event.tgid != e->leader || e->told)
		return;
	e->end.have_status = true;
	e->end.status = event->exit_code;
	e->end.have_cpu = true;
	e->end.user_nsec = event->user_ns;
	e->end.system_nsec = event->system_ns;
	ending_leader_gone(e);
}

static void on_leader(evutil_socket_t fd, short what, void *context)
{
	struct execution *e = context;
	struct daemon *daemon = e->daemon;
	uint32_t slot = e->slot;

	(void)fd;
	(void)what;
	/* How it ended stands in an event, if that was not lost. */
	events_drain(daemon, EVENTS_ALL);
	if (daemon->by_slot[slot] == e)
		ending_leader_gone(e);
}

static void on_owner(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	ending_owner_gone(context);
}

/* --- what events did not tell ------------------------------------------------------------- */

void adopted_scan(struct daemon *daemon)
{
	if (!daemon->executors)
		return;
	for (uint32_t slot = 0; slot < CORDON_MAX_EXECUTIONS; slot++) {
		const struct cordon_execution *view =
			enforcement_execution(daemon->enforcement, slot);
		struct execution *e = daemon->by_slot[slot];

		if (!view->executor || !view->adopted || view->state == CORDON_EXECUTION_FREE)
			continue;
		if (!e)
			e = make_known(daemon, slot, NULL);
		if (e && e->adopted && !e->begun && view->begun)
			adopted_begin(e, NULL);
	}
}

void adopted_resume(struct execution *e)
{
	e->leader = (pid_t)e->view->leader;
	e->begun = true;
	execution_start_deadline(e);
	watch_both(e);
	if (e->state < EXECUTION_ENDING)
		go_on(e);
}

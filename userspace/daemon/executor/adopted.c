/* SPDX-License-Identifier: Apache-2.0 */
/* Executions that the kernel made of an executor's children. */
#include "daemon/executor/adopted.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "adopt/source_agent.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/proc.h"
#include "daemon/executor/adopted_prepare.h"
#include "daemon/execution/asking.h"
#include "daemon/execution/deadline.h"
#include "daemon/execution/ending.h"
#include "daemon/execution/events.h"
#include "daemon/execution/indirect.h"
#include "daemon/executor/executors.h"
#include "daemon/executor/gate.h"
#include "daemon/execution/label.h"
#include "daemon/host/pid_event.h"
#include "daemon/host/process.h"
#include "daemon/execution/recovery_work.h"
#include "daemon/execution/state.h"
#include "daemon/host/turn.h"
#include "daemon/executor/wiped.h"
#include "daemon/policy/compiling.h"
#include "daemon/policy/indirect_policy.h"
#include "daemon/policy/keeping.h"

/* What looks at it may read a gigabyte, and stand in line. */
#define LOOK_SECONDS 60

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
	char path[PATH_MAX];

	return strdup(proc_readlink(pid, "cwd", path) == 0 ? path : "/");
}

static void on_leader(evutil_socket_t fd, short what, void *context);
static void on_owner(evutil_socket_t fd, short what, void *context);

/*
 * A pidfd's event; NULL: the process is gone, or there is no memory for it. The number may have
 * passed to another process while no daemon watched: one that is younger than `latest` (boot clock,
 * ns).
 */
static struct event *watch(struct execution *e, pid_t pid, uint64_t latest, event_callback_fn call)
{
	_cleanup_(closep) int fd = pidfd_open(pid, 0);
	struct process_status status;
	struct event *event = NULL;

	if (fd >= 0 && process_status(pid, &status) == 0 && status.start_nsec <= latest)
		(void)pid_event_new(e->daemon->base, &fd, call, e, &event);
	return event;
}

static void adopted_release(struct execution *e)
{
	if (e->adoption.leader_timer)
		event_free(e->adoption.leader_timer);
	e->adoption.leader_timer = NULL;
	pid_event_free(&e->adoption.leader_event);
	pid_event_free(&e->owner.event);
	gate_free(e->adoption.gate);
	errand_cancel(e->adoption.look);
	keeping_free(TAKE_PTR(e->adoption.keeping));
	compiling_free(TAKE_PTR(e->adoption.amending));
	protocol_strings_free(TAKE_PTR(e->adoption.indirections));
	if (e->adoption.account)
		account_close(e->adoption.account);
	e->adoption.account = NULL;
	e->adoption.gate = NULL;
	e->adoption.look = NULL;
}

static bool is_container(const struct execution *e)
{
	const struct executor_entry *entry = entry_of(e);

	return entry && entry->is->kind == CONFIG_CONTAINER;
}

/*
 * The executor may have gone by now. An embedded daemon knows no entries, and so not whether it is
 * to go: `cordon daemon` sees to that when it takes over.
 */
static void watch_both(struct execution *e)
{
	e->adoption.leader_event = watch(e, e->leader, e->view->adopted, on_leader);
	if (!e->adoption.leader_event) {
		ending_leader_gone(e);
		return;
	}
	/*
	 * A container's runtime goes when it has started it; what an executor started in its place
	 * is all that is left of it.
	 */
	if (is_container(e) || !e->daemon->executors || e->owner.pid == e->leader)
		return;
	e->owner.event = watch(e, e->owner.pid, e->owner.start, on_owner);
	if (!e->owner.event)
		ending_owner_gone(e);
}

static char *agent_of(const struct execution *e, const struct config_executor *is)
{
	switch (is->agent_source) {
	case CONFIG_AGENT_VARIABLE:
		/*
		 * In the executor's memory, which may be a file that does not answer: see
		 * adopted_look().
		 */
		return NULL;
	case CONFIG_AGENT_CGROUP:
		return source_agent_cgroup(e->owner.pid);
	case CONFIG_AGENT_LITERAL:
		break;
	}
	return is->agent ? strdup(is->agent) : NULL;
}

/*
 * A daemon may have died between a record and the state file that goes with it: before the one was
 * written, or after the end, when it was removed. Returns whether its log is read first; then
 * become_known() comes after that.
 */
static bool recall_earlier(struct execution *e)
{
	if (e->view->adopted >= e->daemon->start_time || recovery_work_recall(e) < 0)
		return false;
	recovery_work_begin(e->daemon, false);
	return true;
}

/* Its entry is gone, and with it what its policy was called: the kernel knows which it is. */
static int stand_in(struct execution *e)
{
	struct compiled_policy *policy = calloc(1, sizeof(*policy));

	e->recovered_policy = policy;
	e->policy_name = strdup("unknown");
	if (!policy || !e->policy_name)
		return -ENOMEM;
	(void)enforcement_policy_digest(e->daemon->enforcement, e->view->policy, policy->digest);
	hex_encode(policy->digest, sizeof(policy->digest), policy->digest_text);
	policy->name = strdup("unknown");
	policy->file = strdup("unknown");
	e->record.policy = policy;
	return policy->name && policy->file ? 0 : -ENOMEM;
}

static void refuse(struct execution *e, const struct failure *failure);

/* An entry of which nothing but its name is known, is as good as none. */
static const struct executor_entry *entry_with_policy(const struct daemon *daemon, uint32_t index)
{
	const struct executor_entry *entry = executors_entry(daemon->executors, index);

	return entry && entry->policy ? entry : NULL;
}

/* What happens to it is heard of from here on. */
static void become_known(struct execution *e)
{
	struct failure failure = {};

	watch_both(e);
	if (entry_with_policy(e->daemon, e->view->executor - 1))
		return;
	e->adoption.begun = true;
	failure_set(&failure, EPERM, "its entry in cordon.yaml, or that one's policy, is gone");
	refuse(e, &failure);
}

static struct execution *make_known(struct daemon *daemon, uint32_t slot,
				    const struct cordon_adopt_event *event)
{
	const struct cordon_execution *view = enforcement_execution(daemon->enforcement, slot);
	const struct executor_entry *entry = entry_with_policy(daemon, view->executor - 1);
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
		e->record.agent = agent_of(e, entry->is);
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
	if (!e->record.executor || !e->record.workdir || !e->record.program ||
	    (!entry && stand_in(e) < 0)) {
		/* No memory: it is found again, and held until then. */
		e->bound = false;
		daemon->by_slot[slot] = NULL;
		daemon->executions--;
		execution_free(e);
		return NULL;
	}
	e->log = logs_share(daemon->log);
	if (!recall_earlier(e))
		become_known(e);
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
		[CORDON_ADOPT_TRACES] = "it traces another process",
		[CORDON_ADOPT_INPUT] =
			"its standard input is not /dev/null, and the entry says stdin: null",
		[CORDON_ADOPT_LOCAL] =
			"it was started on the host, in no container; see children: {except}",
	};
	const struct executor_entry *entry = executors_entry(daemon->executors, event->executor);
	const char *data = (const char *)event->data;
	_cleanup_(freep) char *text = NULL;
	const char *reason = event->reason < CORDON_ADOPT_REASON_COUNT ? reasons[event->reason]
								       : "?";
	json_t *record;

	if (entry && entry->waits && event->reason == CORDON_ADOPT_EXHAUSTED)
		reason = "the executor waits for approval, see `cordon approvals`";
	/* What else is wrong with the child may be wrong for the same reason. */
	if (entry && entry->why)
		reason = entry->why;
	if (asprintf(&text, "executor %s: %.*s in %.*s, process %u: %s",
		     entry ? entry->is->name : "unknown", (int)event->program_length,
		     data + event->workdir_length,
		     event->workdir_length ? (int)event->workdir_length : 1,
		     event->workdir_length ? data : "?", event->event.tgid, reason) < 0) {
		text = NULL;
		return;
	}
	record = audit_record_refused(entry ? entry->is->policy : "", text, event->event.uid,
				      clock_nsec(CLOCK_REALTIME));
	/* Isolation that was expected and is not there: somebody should know. */
	if (event->reason == CORDON_ADOPT_LOCAL)
		(void)json_object_set_new(json_object_get(record, "event"), "kind",
					  json_string("alert"));
	daemon->totals.refused++;
	(void)logs_append(daemon->log, record);
	daemon_flush_soon(daemon);
}

static bool well_formed(const struct cordon_event *event, size_t size)
{
	const struct cordon_adopt_event *adopt = (const void *)event;

	return size >= sizeof(*adopt) && event->size <= size &&
	       (uint64_t)adopt->workdir_length + adopt->program_length <= size - sizeof(*adopt);
}

static bool adopted_event(struct daemon *daemon, const struct cordon_event *event, size_t size)
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

/* As a client's request would say it: what the state file keeps. */
static json_t *request_of(const struct execution *e)
{
	const struct audit_execution *x = &e->record;
	char arguments[65], code[65];

	hex_encode(x->arguments_digest, 32, arguments);
	hex_encode(x->code.digest, 32, code);
	return json_pack(
		"{s:s,s:i,s:s,s:o,s:b,s:[],s:o,s:o,s:o,s:s?,s:o,s:b,s:n,s:o,s:I,s:s,s:I,s:n,"
		"s:{s:s,s:o,s:s?,s:I},s:I,s:I}",
		"op", "prepare", "version", PROTOCOL_VERSION, "policy", e->policy_name, "workdir",
		execution_text(x->workdir), "home", 0, "binds", "session",
		execution_text(x->session), "agent", execution_text(x->agent), "executor",
		execution_text(x->executor), "language", x->language, "limits",
		protocol_limits(&x->limits, false), "observe", x->observe, "log", "program",
		execution_text(x->program), "argument_count", (json_int_t)x->argument_count,
		"arguments_sha256", arguments, "arguments_length", (json_int_t)x->arguments_length,
		"arguments", "code", "source", protocol_code_source_name(x->code.source), "path",
		execution_text(x->code.path), "sha256", x->code.have_digest ? code : NULL, "length",
		(json_int_t)x->code.length, "uid", (json_int_t)x->uid, "gid", (json_int_t)x->gid);
}

static void on_start_written(int result, void *context);

/* Appends it; what is held waits until it is in the file. */
static int write_start(struct execution *e, struct failure *failure)
{
	int r = 0;

	/* Without a request there is no state file yet. */
	if (e->started && e->request)
		return 0;
	if (!e->started) {
		/* What has no time to wait until the log can be written. */
		logs_cancel(e->log, TAKE_PTR(e->writing));
		wiped_count(e);
		r = logs_writable(e->log, failure);
		if (r == 0 && e->record.policy->tables)
			r = logs_keep_policy(e->log, e->record.policy, failure);
		if (r >= 0)
			r = execution_append_start(e, failure);
		if (r >= 0)
			r = logs_when_written(e->log, on_start_written, e, &e->writing);
	}
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
	e->daemon->totals.refused++;
	(void)logs_append(e->log, audit_record_refused(e->policy_name, failure->text, e->record.uid,
						       clock_nsec(CLOCK_REALTIME)));
	daemon_flush_soon(e->daemon);
	ending_begin(e, e->started ? AUDIT_END_KILLED : AUDIT_END_NOT_STARTED);
}

static void adopted_need_start(struct execution *e)
{
	struct failure failure = {};

	if (!e->adopted || e->started || e->adoption.unrecorded ||
	    (e->state >= EXECUTION_ENDING && !e->adoption.owes_start))
		return;
	/* It may be on record already. */
	e->adoption.owes_start = e->unread != 0;
	if (e->adoption.owes_start)
		return;
	e->adoption.unlooked = e->adoption.look != NULL;
	if (write_start(e, &failure) < 0) {
		e->adoption.unrecorded = true;
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
	if (enforcement_go_on(e->daemon->enforcement, e->slot) && e->adoption.leader_event)
		(void)pidfd_send_signal(event_get_fd(e->adoption.leader_event), SIGCONT, NULL, 0);
}

/* Its start is written. The next daemon lets go what was found to be in order, and nothing else. */
static void set_off(struct execution *e)
{
	struct failure failure = {};

	e->adoption.in_order = e->adoption.fit;
	if (state_save(e->daemon->state_fd, e, &failure) < 0) {
		refuse(e, &failure);
	} else if (e->adoption.in_order) {
		/* Looking at it has taken time that the event loop's clock has not seen. */
		(void)event_base_update_cache_time(e->daemon->base);
		deadline_start(e);
		asking_start(e);
		go_on(e);
	}
}

static void on_start_written(int result, void *context)
{
	struct execution *e = context;
	struct failure failure = {};

	e->writing = NULL;
	e->written = result == 0;
	if (result < 0 && execution_start_unwritten(e, result, &failure) < 0) {
		e->adoption.unrecorded = true;
		refuse(e, &failure);
	} else {
		set_off(e);
	}
}

static void begin_now(struct execution *e, int r, struct failure *failure)
{
	if (r == 0)
		r = write_start(e, failure);
	/* What it did meanwhile was its end. */
	if (e->state >= EXECUTION_ENDING)
		return;
	if (r < 0 && !leader_runs(e)) {
		/* Killed, or it was not held and has ended: there is nothing to refuse. */
		adopted_need_start(e);
		return;
	}
	if (r < 0) {
		refuse(e, failure);
		return;
	}
	e->adoption.fit = true;
	if (!e->writing)
		set_off(e);
}

static void on_writable(int result, void *context)
{
	struct execution *e = context;
	struct failure failure = {};

	e->writing = NULL;
	if (result < 0) {
		e->adoption.unrecorded = true;
		(void)logs_unwritable(e->log, result, &failure);
		refuse(e, &failure);
	} else {
		begin_now(e, 0, &failure);
	}
}

/* It is held meanwhile: a writer that is started again costs nobody's execution. */
static void begin(struct execution *e, int r, struct failure *failure)
{
	int waits = r == 0 && !e->started ? logs_when_writable(e->log, on_writable, e, &e->writing)
					  : 0;

	if (waits < 0)
		r = failure_set(failure, waits, "%m");
	if (waits <= 0)
		begin_now(e, r, failure);
}

static void on_answer(struct execution *e, const char *refusal)
{
	struct failure failure = {};

	e->adoption.gate = NULL;
	if (e->state >= EXECUTION_ENDING)
		return;
	begin(e, refusal ? failure_set(&failure, EPERM, "%s", refusal) : 0, &failure);
}

static void go_further(struct execution *e, int r, struct failure *failure)
{
	const struct executor_entry *entry = entry_of(e);

	if (r == 0 && entry && entry->is->gate[0]) {
		r = gate_start(e, entry->is->gate, on_answer, &e->adoption.gate, failure);
		if (r == 0)
			return;
	}
	begin(e, r, failure);
}

/* Whose executor it is; where that is gone, whose code. */
static uid_t user_of(const struct execution *e)
{
	uid_t uid;

	return process_uid(e->owner.pid, &uid) == 0 ? uid : e->record.uid;
}

/* Puts it under the policy that on_amended() has waited for. */
static int amend(struct execution *e, struct failure *failure)
{
	_cleanup_(freep) char *message = NULL;
	int r = indirect_amend(e, e->adoption.indirections, &message, failure);

	return r < 0 && message
		       ? failure_replace(failure, r, "%.*s", (int)strcspn(message, "\n"), message)
		       : r;
}

/* It goes on, unless it has ended meanwhile. */
static void end_amending(struct execution *e, int result, struct failure *failure)
{
	keeping_free(TAKE_PTR(e->adoption.keeping));
	compiling_free(TAKE_PTR(e->adoption.amending));
	if (e->state < EXECUTION_ENDING)
		go_further(e, result, failure);
}

static void on_kept(void *context, int result, const struct failure *why)
{
	struct failure failure = *why;

	/* The log is about to be another one: it is kept with the start record. */
	end_amending(context, result == -ESTALE ? 0 : result, &failure);
}

/*
 * The policy is there: puts the execution under it, and it beside the log, which its records refer
 * to. 0: done; 1: on_kept() is called.
 */
static int use_amended(struct execution *e, struct failure *failure)
{
	const struct keeping_job job = {
		.base = e->daemon->base,
		.compiling = e->adoption.amending,
		.log = e->log,
		.uid = user_of(e),
		.done = on_kept,
		.context = e,
	};
	int r = amend(e, failure);

	return r < 0 ? r : keeping_start(&job, &e->adoption.keeping, failure);
}

static void on_amended(void *context, int result, const char *message, const struct failure *why)
{
	struct execution *e = context;
	struct failure failure = *why;

	(void)message;
	if (result == 0 && e->state < EXECUTION_ENDING)
		result = use_amended(e, &failure);
	if (result <= 0)
		end_amending(e, result, &failure);
}

/*
 * Where protected names of its work directory lead elsewhere, it runs under a policy with rules for
 * that. 0: there is none, or it is in force; 1: it goes on later.
 */
static int start_amending(struct execution *e, struct failure *failure)
{
	const struct compiling_job job = {
		.base = e->daemon->base,
		.policies = e->daemon->policies,
		.uid = user_of(e),
		.done = on_amended,
		.context = e,
	};
	char **active = NULL;
	_cleanup_(freep) char *path = NULL;
	struct compiling_wishes wishes = {};
	int r = indirect_policy_make(DAEMON_INDIRECTIONS, e->policy->policy,
				     e->adoption.indirections, &path, &active, failure);

	compiled_strings_free(active);
	if (r < 0 || !path)
		return r;
	r = compiling_wish(&wishes, path, NULL, e->record.observe);
	if (r < 0) {
		compiling_wishes_release(&wishes);
		return failure_set(failure, r, "%m");
	}
	r = compiling_start(&job, &wishes, &e->adoption.amending, failure);
	if (r == 0)
		r = use_amended(e, failure);
	if (r <= 0)
		compiling_free(TAKE_PTR(e->adoption.amending));
	return r;
}

static void on_look(void *context, int result, const char *data, size_t size,
		    struct errand_fds *fds, const struct failure *why)
{
	struct execution *e = context;
	struct failure failure = *why;
	uint64_t begin_time = clock_nsec(CLOCK_MONOTONIC), now;

	e->adoption.look = NULL;
	if (e->state >= EXECUTION_ENDING)
		return;
	if (e->adoption.unlooked && result == 0)
		result = failure_set(&failure, EOVERFLOW,
				     "it did more before it was looked at than can be kept");
	if (result == 0)
		result = adopted_prepare(e, data, size, fds, &failure);
	else
		adopted_note_failed(e, data, size);
	if (result == 0 && e->policy)
		result = start_amending(e, &failure);
	if (result <= 0)
		go_further(e, result, &failure);
	now = clock_nsec(CLOCK_MONOTONIC);
	if (e->adoption.account)
		account_charge(e->adoption.account, (int64_t)(now - begin_time), now);
	if (e->adoption.left)
		ending_leader_gone(e);
}

/* What it takes of the daemon is its user's, as with those who connect. */
static int open_account(struct execution *e, uid_t uid, struct failure *failure)
{
	if (uid == 0 || e->adoption.account)
		return 0;
	e->adoption.account = account_open(&e->daemon->accounts, uid, clock_nsec(CLOCK_MONOTONIC));
	return e->adoption.account
		       ? 0
		       : failure_set(failure, EUSERS,
				     "user %u has too many executions; try again later", uid);
}

static void adopted_begin(struct execution *e)
{
	const uint32_t clean = CORDON_BEGUN_CLEAN | CORDON_BEGUN;
	const uid_t uid = user_of(e);
	const struct errand_job job = {
		.what = "what looks at the code",
		.uid = uid,
		.seconds = LOOK_SECONDS,
		.work = adopted_look,
		.done = on_look,
		.context = e,
	};
	struct failure failure = {};
	int r;

	/* While a daemon starts it knows no entries yet: see adopted_resume(). */
	if (e->adoption.begun || e->state >= EXECUTION_ENDING || !e->daemon->executors || e->unread)
		return;
	e->adoption.begun = true;
	e->adoption.seen.executor = e->view->executor - 1;
	e->adoption.seen.clean = (e->view->begun & clean) == clean;
	e->adoption.seen.held = e->view->state == CORDON_EXECUTION_HELD;
	r = open_account(e, uid, &failure);
	if (r == 0)
		r = adopted_keep_directories(e, &failure);
	if (r == 0)
		r = errand_start(e->daemon->base, &job, &e->adoption.look, &failure);
	if (r < 0)
		begin(e, r, &failure);
}

/* --- its end ------------------------------------------------------------------------------ */

static void adopted_exit(struct execution *e, const struct cordon_exit_event *event)
{
	if (!e->adopted || (pid_t)event->event.tgid != e->leader || e->ending.told)
		return;
	e->end.have_status = true;
	e->end.status = event->exit_code;
	e->end.have_cpu = true;
	e->end.user_nsec = event->user_ns;
	e->end.system_nsec = event->system_ns;
	ending_leader_gone(e);
}

/* After a turn of the others, or when the log's writer may have taken some of its records. */
static void look_at_leader_again(struct execution *e)
{
	const struct timeval after = events_pause(e);

	if (!e->adoption.leader_timer)
		e->adoption.leader_timer = evtimer_new(e->daemon->base, on_leader, e);
	if (e->adoption.leader_timer)
		evtimer_add(e->adoption.leader_timer, &after);
	else if (e->adoption.leader_event)
		event_add(e->adoption.leader_event, NULL);
}

static void on_leader(evutil_socket_t fd, short what, void *context)
{
	TURN("leader");
	struct execution *e = context;
	struct daemon *daemon = e->daemon;
	uint32_t slot = e->slot;
	bool drained;

	(void)fd;
	(void)what;
	/* How it ended stands in an event, if that was not lost. */
	drained = events_drain(daemon, EVENTS_AT_A_TIME);
	if (daemon->by_slot[slot] != e)
		return;
	if (!events_caught_up(e, drained)) {
		look_at_leader_again(e);
		return;
	}
	/* One that was not held may have done its work: what that was is about to be known. */
	if (execution_runs_unlooked(e))
		e->adoption.left = true;
	else
		ending_leader_gone(e);
}

static void on_owner(evutil_socket_t fd, short what, void *context)
{
	TURN("owner");
	(void)fd;
	(void)what;
	ending_owner_gone(context);
}

/* --- what events did not tell ------------------------------------------------------------- */

/*
 * Is its program in place? Newer kernels preempt tracing programs, and leave out the one that tells
 * (bpf/core/begin.bpf.h): then the process itself is looked at.
 */
static bool has_begun(const struct cordon_execution *view)
{
	uint32_t begun = __atomic_load_n(&view->begun, __ATOMIC_ACQUIRE);
	struct process_status status;

	if (begun & CORDON_BEGUN)
		return true;
	return (begun & CORDON_BEGUN_DECIDED) &&
	       process_status((pid_t)view->leader, &status) == 0 && status.in_place;
}

void adopted_scan(struct daemon *daemon)
{
	if (!daemon->executors)
		return;
	for (uint32_t slot = 0; slot < CORDON_MAX_EXECUTIONS; slot++) {
		const struct cordon_execution *view =
			enforcement_execution(daemon->enforcement, slot);
		struct execution *e = daemon->by_slot[slot];

		/* Before all else that the kernel says of it: adopt() wrote that before. */
		if (!__atomic_load_n(&view->adopted, __ATOMIC_ACQUIRE) || !view->executor ||
		    view->state == CORDON_EXECUTION_FREE)
			continue;
		if (!e)
			e = make_known(daemon, slot, NULL);
		if (e && e->adopted && !e->adoption.begun && has_begun(view))
			adopted_begin(e);
	}
}

void adopted_resume(struct execution *e)
{
	struct failure failure = {};

	/* Once its log is read: adopted_recovered(). */
	if (e->unread)
		return;
	e->leader = (pid_t)e->view->leader;
	watch_both(e);
	/* Its program is not in place yet: that will be told. */
	if (e->state >= EXECUTION_ENDING || (!e->adoption.in_order && !has_begun(e->view)))
		return;
	if (!e->adoption.in_order && e->daemon->executors) {
		adopted_begin(e);
		return;
	}
	e->adoption.begun = true;
	if (!e->adoption.in_order) {
		failure_set(&failure, EPERM, "the daemon died before it had looked at it");
		refuse(e, &failure);
		return;
	}
	/* One that runs is not ended for being one too many. */
	(void)open_account(e, user_of(e), &failure);
	deadline_start(e);
	asking_start(e);
	go_on(e);
}

static void adopted_recovered(struct execution *e)
{
	if (e->recovered) {
		if (e->daemon->knows_executors && e->state < EXECUTION_ENDING)
			adopted_resume(e);
		return;
	}
	/* Of what is not on record at all, nothing may be missing unnoticed. */
	if (!e->started && !e->adoption.unrecorded)
		e->sequence.anywhere = false;
	if (e->state >= EXECUTION_ENDING)
		return;
	become_known(e);
	if (e->state < EXECUTION_ENDING && !e->adoption.begun && has_begun(e->view))
		adopted_begin(e);
}

/* --- what the life of executions calls ---------------------------------------------------- */

const struct adopted_calls adopted_calls = {
	.event = adopted_event,
	.need_start = adopted_need_start,
	.environment = wiped_take,
	.begin = adopted_begin,
	.exit = adopted_exit,
	.recovered = adopted_recovered,
	.release = adopted_release,
};

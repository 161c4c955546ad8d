/* SPDX-License-Identifier: Apache-2.0 */
/* Ends an execution, whatever the cause: kills, reads the last events, reports, removes. */
#include "daemon/execution/ending.h"

#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "daemon/execution/adopted_calls.h"
#include "daemon/execution/apply.h"
#include "daemon/execution/asking.h"
#include "daemon/execution/deadline.h"
#include "daemon/execution/ending_report.h"
#include "daemon/execution/events.h"
#include "daemon/host/process.h"
#include "daemon/execution/state.h"
#include "daemon/execution/traffic.h"
#include "daemon/host/tmpdir.h"
#include "daemon/execution/left_behind.h"
#include "daemon/host/turn.h"

/* Delay between checks for live tasks, doubling: most executions are gone in a millisecond. */
#define LOOK_FIRST_MSEC 1u
#define LOOK_LAST_MSEC	50u
/* Every so many looks what is still there is killed again. */
#define KILL_EVERY 8u
/*
 * Until this look, tasks with the label are not looked for where the cgroup is empty: the kernel
 * frees a task, and takes it from the count, some milliseconds after its death, and to find them it
 * goes through all tasks of the host.
 */
#define SEARCH_FROM 4u
/* Then it is said aloud that something resists; looks go on, at a slower pace. */
#define STUCK_NSEC	(10 * NSEC_PER_SEC)
#define STUCK_LOOK_MSEC 1000u
/* How long the owner may take to tell the status of a command that the daemon has killed. */
#define TELL_MSEC 5000u
/* How long it may take to tell that one has ended whose deadline is over. */
#define OVERDUE_MSEC 1000u
/* What whoever waits for the end waits for its record, where the log's writer is slow. */
#define WRITE_MSEC 2000u
/* Refusals that are forgotten in one go. */
#define FORGET_REFUSALS 256u
/* Entries of a temporary directory that are removed in one go. */
#define REMOVE_ENTRIES 64u
/* The cgroup stays busy for a moment after its last task; other failures are final soon. */
#define REMOVE_ATTEMPTS 100u

static void arm(struct execution *e, unsigned int msec)
{
	const struct timeval after = {.tv_sec = msec / 1000, .tv_usec = (msec % 1000) * 1000};

	evtimer_add(e->timer, &after);
}

/* --- killing ------------------------------------------------------------------------------ */

static bool leader_alive(const struct execution *e)
{
	/* The owner reaps the leader before it tells. */
	return e->leader > 0 && !e->ending.told;
}

static void kill_all(struct execution *e)
{
	bool empty = e->cgroup_fd >= 0 && cgroup_populated(e->cgroup_fd) == 0;
	struct enforcement_killed killed = {};
	int r;

	/* What remains may have been moved elsewhere, or be dead and not yet freed. */
	e->ending.searched = e->view->tasks > 0 && (!empty || e->ending.steps >= SEARCH_FROM);
	if (e->ending.searched) {
		r = enforcement_kill(e->daemon->enforcement, e->slot, &killed);
		/* That it has found nobody says nothing then. */
		e->ending.searched = r >= 0;
		if (r < 0)
			daemon_say(e->daemon, "execution %s: killing by label: %s", e->id,
				   strerror(-r));
	}
	/* A held child that has no label yet is in the cgroup. */
	r = e->cgroup_fd >= 0 && !empty ? cgroup_kill(e->cgroup_fd) : 0;
	if (r < 0)
		daemon_say(e->daemon, "execution %s: cgroup.kill: %s", e->id, strerror(-r));
	e->ending.alive = killed.signalled;
	/* Counted once: the second time the same ones may still be dying. */
	if (e->ending.searched && !e->ending.counted) {
		e->ending.counted = true;
		/* An adopted leader's end is heard of while it is at it. */
		e->end.killed_tasks = killed.running;
		e->ending.leader_killed = leader_alive(e) && killed.signalled > 0;
	}
}

/*
 * What is dead, but not waited for by whoever outside is its parent, still carries the label. It
 * runs nothing: the end need not wait for it.
 */
static bool all_dead(const struct execution *e)
{
	bool gone = e->view->tasks == 0 ||
		    (e->ending.steps > 1 && e->ending.searched && e->ending.alive == 0);

	return gone && (e->cgroup_fd < 0 || cgroup_populated(e->cgroup_fd) <= 0);
}

static void say_stuck(struct execution *e)
{
	e->ending.stuck = true;
	daemon_say(e->daemon, "execution %s: %llu tasks survive SIGKILL; trying on", e->id,
		   (unsigned long long)e->view->tasks);
	daemon_record(e->daemon, "stuck",
		      json_pack("{s:s,s:I}", "execution", e->id, "tasks",
				(json_int_t)e->view->tasks));
	if (e->daemon->execution_stuck)
		e->daemon->execution_stuck(e);
}

static void finish(struct execution *e);

/* Is the owner about to tell how its command ended? */
static bool will_be_told(const struct execution *e)
{
	/* One that lost its daemon comes to this one. */
	bool lost = e->recovered && !e->adopted && e->started &&
		    process_alive(e->owner.pid, e->owner.start);

	/* It told an earlier daemon; it still wants its report. */
	if (lost && e->ending.known && !e->owner.connection)
		return true;
	switch (e->end.cause) {
	case AUDIT_END_TIMEOUT:
	case AUDIT_END_DENIALS:
	case AUDIT_END_KILLED:
	case AUDIT_END_RECOVERED:
		return !e->ending.told && (lost || (e->owner.connection && e->leader > 0));
	default:
		return false;
	}
}

static void dead(struct execution *e)
{
	e->state = EXECUTION_DEAD;
	if (will_be_told(e))
		arm(e, TELL_MSEC);
	else
		finish(e);
}

static void look(struct execution *e)
{
	unsigned int delay = LOOK_FIRST_MSEC;

	if (e->ending.steps % KILL_EVERY == 0 || e->ending.steps == SEARCH_FROM || e->adopted)
		kill_all(e);
	if (all_dead(e)) {
		dead(e);
		return;
	}
	for (unsigned int i = 0; i < e->ending.steps && delay < LOOK_LAST_MSEC; i++)
		delay *= 2;
	if (delay > LOOK_LAST_MSEC)
		delay = LOOK_LAST_MSEC;
	e->ending.steps++;
	if (!e->ending.stuck && clock_nsec(CLOCK_BOOTTIME) - e->ending.since > STUCK_NSEC)
		say_stuck(e);
	arm(e, e->ending.stuck ? STUCK_LOOK_MSEC : delay);
}

void ending_begin(struct execution *e, enum audit_end_cause cause)
{
	if (e->state >= EXECUTION_ENDING)
		return;
	e->daemon->adopted->need_start(e);
	if (e->state >= EXECUTION_ENDING)
		return;
	/* Its start may still be on its way into the file; its end comes after it. */
	if (e->writing)
		logs_cancel(e->log, TAKE_PTR(e->writing));
	e->state = EXECUTION_ENDING;
	e->end.cause = cause;
	e->ending.since = clock_nsec(CLOCK_BOOTTIME);
	enforcement_set_ending(e->daemon->enforcement, e->slot);
	evtimer_del(e->timer);
	asking_release(e);
	/* Kills at once, but looks later: this may be called while events are being read. */
	kill_all(e);
	e->ending.steps++;
	event_active(e->timer, EV_TIMEOUT, 1);
}

void ending_hurry(struct execution *e)
{
	if (e->state == EXECUTION_ENDING)
		event_active(e->timer, EV_TIMEOUT, 1);
}

void ending_check_denials(struct execution *e)
{
	struct cordon_policy_header header;

	if (e->state != EXECUTION_LIVE || !e->policy)
		return;
	memcpy(&header, e->policy->policy->tables, sizeof(header));
	if (header.denial_limit > 0 && e->view->denials >= header.denial_limit)
		ending_begin(e, AUDIT_END_DENIALS);
}

/* --- finishing ---------------------------------------------------------------------------- */

static void fill_end(struct execution *e)
{
	const struct cordon_execution *view = e->view;
	struct audit_end *end = &e->end;
	struct cgroup_usage usage;

	if (e->start > 0)
		end->duration_nsec = e->ending.since - e->start;
	end->clock_offset = clock_nsec(CLOCK_REALTIME) - clock_nsec(CLOCK_BOOTTIME);
	cgroup_usage(e->cgroup_fd, &usage);
	end->have_cpu = end->have_cpu || usage.have_cpu;
	if (usage.have_cpu) {
		end->user_nsec = usage.user_nsec;
		end->system_nsec = usage.system_nsec;
	}
	end->have_memory = usage.have_memory;
	end->memory_peak_bytes = usage.memory_peak_bytes;
	end->oom_kills = usage.oom_kills;
	end->have_pids = usage.have_pids;
	end->pids_peak = usage.pids_peak;
	if (usage.oom_kills > 0)
		end->limits |= 1u << AUDIT_LIMIT_MEMORY;
	if (usage.pids_refused > 0)
		end->limits |= 1u << AUDIT_LIMIT_PIDS;
	end->events = view->emitted;
	end->denials = view->denials;
	end->would_denials = view->would_denials;
	end->forks = view->forks;
	end->execs = view->execs;
	end->coalesced = view->coalesced;
	end->dropped = view->dropped + e->lost;
	end->limited = view->limited;
	end->unresolved = view->unresolved;
	end->last_sequence = view->sequence;
	end->bytes_sent = view->bytes_sent;
	end->bytes_received = view->bytes_received;
	end->packets_sent = view->packets_sent;
	end->packets_received = view->packets_received;
	end->packets_denied = view->packets_denied;
}

static void clean(struct execution *e);

/* Once: whoever is told has a report, and finds the end in the log where its writer is not slow. */
static void tell_when_complete(struct execution *e)
{
	if (e->writing || e->ending.reporting)
		return;
	e->ending.untold = false;
	evtimer_del(e->timer);
	if (e->daemon->execution_finished)
		e->daemon->execution_finished(e);
	e->owner.connection = NULL;
	e->ending.steps = 0;
	clean(e);
}

static void on_end_written(int result, void *context)
{
	struct execution *e = context;

	e->writing = NULL;
	if (result < 0)
		daemon_say(e->daemon, "execution %s: its end record waits for room in %s", e->id,
			   logs_directory(e->log));
	tell_when_complete(e);
}

static void wait_no_longer(struct execution *e)
{
	if (e->writing)
		logs_cancel(e->log, TAKE_PTR(e->writing));
	tell_when_complete(e);
}

/*
 * No task of it is left: what the kernel has noted stays. A digest that something else was opened
 * for is not what ran.
 */
static void note_code(struct execution *e)
{
	const struct cordon_code *code = &e->view->code;
	struct audit_code *record = &e->record.code;

	if (record->source != AUDIT_CODE_FILE || code->watch == CORDON_CODE_UNWATCHED)
		return;
	record->watched = true;
	record->opens = code->opens;
	if (code->watch != CORDON_CODE_CHANGED)
		return;
	record->opened = code->opened;
	record->have_digest = false;
}

static void finish(struct execution *e)
{
	struct daemon *daemon = e->daemon;
	struct timeval after;
	uint64_t last;
	bool sent;

	/* Whether its end is on record already is not known: note_read() in recovery_work.c. */
	if (e->unread)
		return;
	if (e->adoption.owes_start) {
		daemon->adopted->need_start(e);
		if (e->writing)
			logs_cancel(e->log, TAKE_PTR(e->writing));
	}
	sent = events_are_sent(e, &last);
	if (!events_caught_up(e, events_drain(daemon, EVENTS_AT_A_TIME) && sent)) {
		after = events_pause(e);
		evtimer_add(e->timer, &after);
		return;
	}
	evtimer_del(e->timer);
	left_behind_remove(e->daemon, e->slot, e->id);
	events_settle(e, last);
	fill_end(e);
	note_code(e);
	e->state = EXECUTION_FINISHED;
	apply_drop_change(e);
	if (e->started) {
		totals_add_end(&daemon->totals, &e->end);
		traffic_append(e);
		(void)logs_append(e->log, audit_record_end(&e->record, &e->end,
							   clock_nsec(CLOCK_REALTIME)));
	}
	daemon_flush_soon(daemon);
	daemon->executions--;
	e->ending.untold = true;
	if (logs_when_written(e->log, on_end_written, e, &e->writing) == 0)
		arm(e, WRITE_MSEC);
	ending_report_begin(e, tell_when_complete);
	tell_when_complete(e);
}

/*
 * Most parents wait soon, and to look for tasks takes going through all of the host's: only zombies
 * that are still there after a while lose their execution. False: not yet.
 */
static bool release_slot(struct execution *e)
{
	if (!e->bound || e->view->tasks == 0)
		return true;
	if (!e->ending.waited) {
		e->ending.waited = true;
		return false;
	}
	if (enforcement_retire(e->daemon->enforcement, e->slot) < 0) {
		kill_all(e);
		return false;
	}
	e->daemon->by_slot[e->slot] = NULL;
	e->bound = false;
	return true;
}

/* In steps: a cgroup may be busy for a moment, a directory may hold a million files. */
static void clean(struct execution *e)
{
	struct daemon *daemon = e->daemon;
	int r = 0, left = 0;

	daemon->denials_kept -= reported_forget(&e->reported, FORGET_REFUSALS);
	if (e->reported.count > 0) {
		arm(e, 0);
		return;
	}
	if (e->have_tmp) {
		r = tmpdir_remove(DAEMON_TMP_PARENT, e->name, REMOVE_ENTRIES);
		if (r == -EAGAIN) {
			arm(e, 0);
			return;
		}
		e->have_tmp = r < 0;
	}
	if (!release_slot(e)) {
		arm(e, STUCK_LOOK_MSEC);
		return;
	}
	left = cgroup_remove(&daemon->cgroups, e->id);
	if ((r < 0 || left < 0) && ++e->ending.steps < REMOVE_ATTEMPTS) {
		arm(e, LOOK_LAST_MSEC);
		return;
	}
	if (r < 0)
		daemon_say(daemon, "%s/%s cannot be removed: %s", DAEMON_TMP_PARENT, e->name,
			   strerror(-r));
	if (left < 0)
		daemon_say(daemon, "the cgroup %s/%s cannot be removed: %s", daemon->cgroups.path,
			   e->id, strerror(-left));
	execution_free(e);
	if (daemon->unfinished == 0)
		daemon->idle(daemon);
}

/* --- what begins it ----------------------------------------------------------------------- */

/*
 * The command may have ended by itself before its deadline, and its owner's word of it wait in the
 * socket: for a moment, when the loop was held up. That word has the cause and the status.
 */
static bool ended_in_time(struct execution *e)
{
	struct process_status status;
	int r;

	if (e->ending.overdue || e->adopted || e->leader <= 0 || !e->owner.connection)
		return false;
	r = process_status(e->leader, &status);
	if (r == 0 && status.state != 'Z' && status.state != 'X')
		return false;
	e->ending.overdue = true;
	arm(e, OVERDUE_MSEC);
	return true;
}

void ending_timer(evutil_socket_t fd, short what, void *execution)
{
	TURN("ending");
	struct execution *e = execution;

	(void)fd;
	(void)what;
	switch (e->state) {
	case EXECUTION_PREPARED:
		ending_begin(e, AUDIT_END_NOT_STARTED);
		break;
	case EXECUTION_LIVE:
		if (!ended_in_time(e))
			ending_begin(e, deadline_cause(e));
		break;
	case EXECUTION_ENDING:
		look(e);
		break;
	case EXECUTION_DEAD:
		finish(e);
		break;
	case EXECUTION_FINISHED:
		if (e->ending.untold)
			wait_no_longer(e);
		else
			clean(e);
		break;
	}
}

static void go_on(struct execution *e, enum audit_end_cause cause)
{
	if (e->state == EXECUTION_DEAD)
		finish(e);
	else
		ending_begin(e, cause);
}

/*
 * Before the kernel is told that it is ending: a daemon that dies from here on leaves the status to
 * the next one.
 */
static void keep_told(struct execution *e)
{
	struct failure failure = {};

	if (e->written && e->state == EXECUTION_LIVE &&
	    state_save(e->daemon->state_fd, e, &failure) < 0)
		daemon_say(e->daemon, "execution %s: %s", e->id, failure.text);
}

void ending_told(struct execution *e, const struct ended_request *ended)
{
	e->ending.told = true;
	e->end.have_status = true;
	e->end.status = ended->status;
	e->end.have_cpu = true;
	e->end.user_nsec = ended->user_nsec;
	e->end.system_nsec = ended->system_nsec;
	if (ended->have_code && e->record.code.source == AUDIT_CODE_STDIN) {
		e->record.code.have_digest = true;
		memcpy(e->record.code.digest, ended->code_digest, sizeof(ended->code_digest));
		e->record.code.length = ended->code_length;
	}
	keep_told(e);
	go_on(e, WIFSIGNALED(ended->status) ? AUDIT_END_SIGNALED : AUDIT_END_EXITED);
}

void ending_aborted(struct execution *e, const struct abort_request *aborted)
{
	e->ending.told = true;
	if (!e->started) {
		e->daemon->totals.refused++;
		(void)logs_append(e->log,
				  audit_record_refused(e->policy_name, aborted->message,
						       e->record.uid, clock_nsec(CLOCK_REALTIME)));
	}
	go_on(e, AUDIT_END_NOT_STARTED);
}

void ending_leader_gone(struct execution *e)
{
	e->ending.told = true;
	keep_told(e);
	e->daemon->adopted->need_start(e);
	if (!e->adoption.begun)
		ending_begin(e, AUDIT_END_NOT_STARTED);
	else if (deadline_is_over(e))
		/* The guard was faster. */
		ending_begin(e, deadline_cause(e));
	else if (e->end.have_status && WIFSIGNALED(e->end.status))
		ending_begin(e, AUDIT_END_SIGNALED);
	else
		ending_begin(e, AUDIT_END_EXITED);
}

void ending_owner_gone(struct execution *e)
{
	e->owner.connection = NULL;
	if (e->state == EXECUTION_DEAD)
		finish(e);
	else
		ending_begin(e, e->started ? AUDIT_END_OWNER_GONE : AUDIT_END_NOT_STARTED);
}

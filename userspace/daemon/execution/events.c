/* SPDX-License-Identifier: Apache-2.0 */
/* Takes events from the kernel's rings to the logs. */
#include "daemon/execution/events.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/execution/adopted_calls.h"
#include "daemon/execution/asking.h"
#include "daemon/execution/attempt.h"
#include "daemon/execution/deadline.h"
#include "daemon/execution/domain.h"
#include "daemon/execution/ending.h"

/* Up to 20 KB each. Of all executions; and what each may have in any case. */
#define DENIALS_KEPT_MAX  16384u
#define DENIALS_KEPT_EACH 1u
#define RULES_KEPT_EACH	  16u
#define ATTEMPTS_KEPT	  (EXECUTION_MAX_REPORTED / 4)
#define DEFAULTS_KEPT	  (EXECUTION_MAX_REPORTED / 4 * 3)
/* Bytes of events of one execution that wait for its start. */
#define EARLY_MAX (128u << 10)
/* When what a program has not written yet is looked for again. */
#define WRITING_MSEC 1u
/* Records of one execution that are made as its events are read; and later in a row. */
#define RECORDS_EACH	 16u
#define RECORDS_IN_A_ROW 8u

static void gap(uint64_t after, uint64_t before, void *context)
{
	struct execution *e = context;

	totals_add_gap(&e->daemon->totals, after, before);
	(void)logs_append(e->log,
			  audit_record_gap(&e->record, after, before, clock_nsec(CLOCK_REALTIME)));
}

static bool is_by_rule(const struct cordon_event *event)
{
	return event->type == CORDON_EVENT_DENIAL &&
	       ((const struct cordon_denial_event *)event)->reason == CORDON_REASON_RULE;
}

/* For the report. Beyond the limit they are in the log, and counted. */
static void keep_refused(struct execution *e, const struct cordon_event *event,
			 const struct buffer *text, size_t limit)
{
	struct daemon *daemon = e->daemon;
	size_t least = is_by_rule(event) ? RULES_KEPT_EACH : DENIALS_KEPT_EACH;

	if (daemon->denials_kept >= DENIALS_KEPT_MAX && limit > least)
		limit = least;
	if (reported_add(&e->reported, (const void *)event, text, limit) == 1)
		daemon->denials_kept++;
}

/* Neither DAC denials nor default denials take the room of denials by a rule. */
static void take_attempt(struct execution *e, const struct cordon_event *event,
			 const struct buffer *text)
{
	const struct cordon_denial_event *attempt = (const void *)event;
	uint64_t count = 1 + (uint64_t)attempt->repeats;

	e->end.attempts += count;
	e->daemon->totals.attempts += count;
	keep_refused(e, event, text, ATTEMPTS_KEPT);
}

/* An event names the policy that decided, which need not be the one in force any more. */
static int write_record(const struct execution *e, const struct cordon_event *event, size_t size)
{
	struct event_text *text = &e->daemon->event_text;
	const struct audit_execution *execution = &e->record;
	_cleanup_(freep) void *marked = NULL;
	struct audit_execution then;
	struct event_domain domain;
	int r;

	if (e->previous && event->policy == e->previous->ref) {
		then = e->record;
		then.policy = e->previous->policy;
		execution = &then;
	}
	if (event->type == CORDON_EVENT_ATTEMPT) {
		r = attempt_mark(execution, event, size, &marked, &size);
		if (r < 0)
			return r;
		event = marked;
	}
	if (domain_find(e->daemon->enforcement, execution->policy, event, size, &domain))
		text->domain = &domain;
	r = event_text_write(text, execution, event, size, e->daemon->boot_offset);
	text->domain = NULL;
	return r;
}

struct early {
	size_t size;
	char event[];
};

/*
 * What an executor's child is, is looked at when its program is in place, after the events that the
 * exec itself makes: its own, and where allowed opens are on record those of the program and of its
 * interpreters. A child that is not held goes on meanwhile.
 */
static bool comes_early(const struct execution *e, const struct cordon_event *event)
{
	return execution_runs_unlooked(e) || event->type == CORDON_EVENT_OPEN ||
	       event->type == CORDON_EVENT_EXEC;
}

static bool keep_early(struct execution *e, const struct cordon_event *event, size_t size)
{
	size_t needed = (sizeof(struct early) + size + 7) & ~(size_t)7;
	struct early *early;
	char *grown;

	if (!e->adopted || e->started || !comes_early(e, event) ||
	    needed > EARLY_MAX - e->adoption.early_size)
		return false;
	grown = realloc(e->adoption.early, e->adoption.early_size + needed);
	if (!grown)
		return false;
	early = (void *)(grown + e->adoption.early_size);
	early->size = size;
	memcpy(early->event, event, size);
	e->adoption.early = grown;
	e->adoption.early_size += needed;
	return true;
}

/* Whether it may be lost when there are too many of them; a life hangs on the others. */
static bool is_of_many(const struct cordon_event *event)
{
	switch (event->type) {
	case CORDON_EVENT_DENIAL:
	case CORDON_EVENT_ATTEMPT:
	case CORDON_EVENT_OPEN:
	case CORDON_EVENT_CONNECT:
	case CORDON_EVENT_CHANGE:
		return true;
	default:
		return false;
	}
}

static struct log_budget *budget_of(struct execution *e, const struct cordon_event *event)
{
	return is_by_rule(event) ? &e->rule_budget : &e->budget;
}

/* The events whose number is missing then become a gap. */
static bool is_within_rate(struct execution *e, const struct cordon_event *event)
{
	const struct compiled_policy *policy = e->record.policy;
	struct cordon_policy_header header;

	if (!is_of_many(event) || !policy || !policy->tables)
		return true;
	memcpy(&header, policy->tables, sizeof(header));
	return log_budget_has_room(budget_of(e, event), log_budget_rate(&header), event->time);
}

static void put_on_record(struct execution *e, const struct cordon_event *event, size_t size)
{
	struct daemon *daemon = e->daemon;
	struct event_text *text = &daemon->event_text;
	int r;

	r = write_record(e, event, size);
	if (r == 0) {
		(void)logs_append_text(e->log, &e->log_share, text->record.data, text->record.size);
		if (is_of_many(event))
			log_budget_charge(budget_of(e, event), text->record.size);
		if (event->type == CORDON_EVENT_DENIAL) {
			keep_refused(e, event, &text->record,
				     is_by_rule(event) ? EXECUTION_MAX_REPORTED : DEFAULTS_KEPT);
			ending_check_denials(e);
		} else if (event->type == CORDON_EVENT_ATTEMPT) {
			take_attempt(e, event, &text->record);
		}
	} else if (r != -ENODATA) {
		daemon->malformed++;
		daemon_say(daemon, "execution %s: event %" PRIu64 " is lost: %s", e->id,
			   (uint64_t)event->sequence, strerror(-r));
		/* The number has arrived, the record has not. */
		if (event->type != CORDON_EVENT_ATTEMPT)
			gap(event->sequence - 1, event->sequence + 1, e);
	}
}

/* As what it is refused for the present, of which nothing is on record yet. */
static void take_waiting(struct execution *e, const struct cordon_event *event, size_t size)
{
	_cleanup_(freep) struct cordon_event *denial = malloc(size);
	struct event_text *text = &e->daemon->event_text;
	int r = denial ? 0 : -ENOMEM;

	if (r == 0) {
		memcpy(denial, event, size);
		denial->type = CORDON_EVENT_DENIAL;
		r = write_record(e, denial, size);
	}
	if (r < 0)
		daemon_say(e->daemon, "execution %s: what a call waits for is not known: %s", e->id,
			   strerror(-r));
	asking_take(e, event, r < 0 ? NULL : &text->record);
}

/* What a process ended by tells which limit it has run into. */
static void note_limit(struct execution *e, uint32_t status)
{
	switch (status & 0x7f) {
	case SIGXCPU:
		e->end.limits |= 1u << AUDIT_LIMIT_CPU_TIME;
		break;
	case SIGXFSZ:
		e->end.limits |= 1u << AUDIT_LIMIT_FILE_SIZE;
		break;
	case SIGSYS:
		e->end.limits |= 1u << AUDIT_LIMIT_SYSTEM_CALLS;
		break;
	default:
		break;
	}
}

static void follow(struct execution *e, const struct cordon_event *event, size_t size)
{
	if (event->type == CORDON_EVENT_WAITS) {
		take_waiting(e, event, size);
		return;
	}
	put_on_record(e, event, size);
	if (event->type == CORDON_EVENT_EXIT && size >= sizeof(struct cordon_exit_event)) {
		const struct cordon_exit_event *end = (const void *)event;

		note_limit(e, end->exit_code);
		e->daemon->adopted->exit(e, end);
	}
	if (event->type == CORDON_EVENT_EMPTY)
		ending_hurry(e);
	if (event->type == CORDON_EVENT_ASKED)
		deadline_asked(e);
}

void events_release_early(struct execution *e)
{
	_cleanup_(freep) char *events = TAKE_PTR(e->adoption.early);
	size_t size = e->adoption.early_size;

	e->adoption.early_size = 0;
	for (size_t at = 0; at < size;) {
		const struct early *early = (const void *)(events + at);

		follow(e, (const void *)early->event, early->size);
		at += (sizeof(*early) + early->size + 7) & ~(size_t)7;
	}
}

static void handle_of(struct execution *e, const struct cordon_event *event, size_t size)
{
	if (event->type != CORDON_EVENT_ATTEMPT && event->type != CORDON_EVENT_WAITS)
		sequence_add(&e->sequence, event->sequence, gap, e);
	if (event->type == CORDON_EVENT_ADOPT) {
		e->unwritten[0] = event->sequence;
		return;
	}
	if (event->type == CORDON_EVENT_BEGIN) {
		e->unwritten[1] = event->sequence;
		if (size >= sizeof(struct cordon_adopt_event))
			e->daemon->adopted->begin(e);
		return;
	}
	if (event->type == CORDON_EVENT_ENVIRONMENT) {
		e->unwritten[2] = event->sequence;
		e->daemon->adopted->environment(e, event, size);
		return;
	}
	if (keep_early(e, event, size))
		return;
	e->daemon->adopted->need_start(e);
	follow(e, event, size);
}

static void handle_stray(struct daemon *daemon, const struct cordon_event *event)
{
	daemon->strays++;
	daemon_record(daemon, "stray-event",
		      json_pack("{s:i,s:i,s:i,s:I,s:i}", "type", (int)event->type, "slot",
				(int)event->slot, "generation", (int)event->generation, "sequence",
				(json_int_t)event->sequence, "pid", (int)event->tgid));
}

/*
 * Nobody is left, says the kernel, of an execution that was seen to be empty before it could say
 * so.
 */
static bool is_late_farewell(struct daemon *daemon, const struct cordon_event *event)
{
	return event->type == CORDON_EVENT_EMPTY && event->slot < CORDON_MAX_EXECUTIONS &&
	       enforcement_execution(daemon->enforcement, event->slot)->generation ==
		       event->generation;
}

/* After those that wait already; and while others have had less of this turn. */
static bool must_wait(struct execution *e)
{
	struct daemon *daemon = e->daemon;

	/* Which of its events are on record is not known yet. */
	if (e->unread || !backlog_is_empty(&e->backlog))
		return true;
	if (!daemon->in_turns)
		return false;
	if (e->turn != daemon->turn) {
		e->turn = daemon->turn;
		e->turn_records = 0;
	}
	return daemon->records_left == 0 || e->turn_records >= RECORDS_EACH ||
	       logs_have_enough(e->log, &e->log_share);
}

static int keep(struct execution *e, const struct cordon_event *event, size_t size)
{
	struct backlogs *all = &e->daemon->backlogs;

	return is_by_rule(event) ? backlog_add_important(all, &e->backlog, event, size)
				 : backlog_add(all, &e->backlog, event, size);
}

/* What is lost is counted, and where it has a number that is missing from the sequence: a gap. */
static bool keep_for_later(struct execution *e, const struct cordon_event *event, size_t size)
{
	if (!must_wait(e))
		return false;
	if (keep(e, event, size) == 0)
		return true;
	if (!is_of_many(event))
		return false;
	e->lost++;
	return true;
}

static void handle_in_turn(struct execution *e, const struct cordon_event *event, size_t size)
{
	struct daemon *daemon = e->daemon;

	if (!is_within_rate(e, event)) {
		e->lost++;
		return;
	}
	e->turn_records++;
	if (daemon->records_left > 0)
		daemon->records_left--;
	handle_of(e, event, size);
}

static void take(struct execution *e, const struct cordon_event *event, size_t size)
{
	if (!keep_for_later(e, event, size))
		handle_in_turn(e, event, size);
}

static struct execution *execution_of(struct backlog *backlog)
{
	return (struct execution *)((char *)backlog - offsetof(struct execution, backlog));
}

static void settle_found(struct execution *e)
{
	if (!e->settles || e->unread || !backlog_is_empty(&e->backlog))
		return;
	e->settles = false;
	/* One that ends settles all of it, and of one that has ended all is on record. */
	if (e->state < EXECUTION_ENDING && !e->adoption.unrecorded)
		events_settle(e, e->found_sequence);
}

static void have_turn(struct execution *e)
{
	struct daemon *daemon = e->daemon;
	uint32_t slot = e->slot;

	for (unsigned int i = 0; i < RECORDS_IN_A_ROW && daemon->records_left > 0; i++) {
		size_t size;
		const void *event = backlog_first(&e->backlog, &size);

		handle_in_turn(e, event, size);
		if (daemon->by_slot[slot] != e)
			return;
		backlog_drop_first(&daemon->backlogs, &e->backlog);
		if (backlog_is_empty(&e->backlog)) {
			settle_found(e);
			return;
		}
	}
	backlogs_rotate(&daemon->backlogs, &e->backlog);
}

static void have_turns(struct daemon *daemon)
{
	struct backlog *next, *skipped = NULL;

	while (daemon->records_left > 0 && (next = backlogs_next(&daemon->backlogs)) != NULL &&
	       next != skipped) {
		struct execution *e = execution_of(next);

		if (e->unread || (daemon->in_turns && logs_have_enough(e->log, &e->log_share))) {
			if (!skipped)
				skipped = next;
			backlogs_rotate(&daemon->backlogs, next);
			continue;
		}
		have_turn(e);
		skipped = NULL;
	}
}

void events_handle(const void *data, size_t size, void *context)
{
	struct daemon *daemon = context;
	const struct cordon_event *event = data;
	struct execution *e;

	if (size < sizeof(*event)) {
		daemon->malformed++;
		daemon_record(daemon, "malformed-event",
			      json_pack("{s:I}", "size", (json_int_t)size));
		return;
	}
	if (event->type == CORDON_EVENT_REFUSED ||
	    (event->slot < CORDON_MAX_EXECUTIONS && !daemon->by_slot[event->slot]))
		if (daemon->adopted->event(daemon, event, size) &&
		    event->type == CORDON_EVENT_REFUSED)
			return;
	e = event->slot < CORDON_MAX_EXECUTIONS ? daemon->by_slot[event->slot] : NULL;
	if (e && e->generation == event->generation && e->state != EXECUTION_FINISHED)
		take(e, event, size);
	else if (!is_late_farewell(daemon, event))
		handle_stray(daemon, event);
}

static void begin_turn(struct daemon *daemon, bool in_turns)
{
	daemon->boot_offset = clock_nsec(CLOCK_REALTIME) - clock_nsec(CLOCK_BOOTTIME);
	daemon->in_turns = in_turns;
	daemon->records_left = in_turns ? RECORDS_AT_A_TIME : UINT_MAX;
	daemon->turn++;
}

/* `most` events were read at most, which was all if `drained`. */
static void put_previous(struct daemon *daemon, bool drained, unsigned int most)
{
	for (size_t i = 0; daemon->with_previous > 0 && i < ARRAY_SIZE(daemon->by_slot); i++) {
		struct execution *e = daemon->by_slot[i];

		if (!e || !e->previous)
			continue;
		e->previous_events += most;
		if ((drained || e->previous_events >= EVENTS_ALL) && backlog_is_empty(&e->backlog))
			execution_put_previous(e);
	}
}

/* What is left: at once, or when the log's writer may have written some. */
static void end_turn(struct daemon *daemon)
{
	bool waits = backlogs_next(&daemon->backlogs) != NULL;
	struct timeval after = {};

	daemon->in_turns = false;
	if (!daemon->backlog_timer || (!waits && daemon->with_previous == 0))
		return;
	if (!daemon->more_events && daemon->records_left > 0)
		after.tv_usec = BACKLOG_MSEC * 1000;
	evtimer_add(daemon->backlog_timer, &after);
}

bool events_drain(struct daemon *daemon, unsigned int most)
{
	bool waited, drained = true;
	int r;

	begin_turn(daemon, most < EVENTS_ALL);
	waited = backlogs_next(&daemon->backlogs) != NULL;
	if (!daemon->in_turns)
		have_turns(daemon);
	r = enforcement_drain(daemon->enforcement, most, &drained);
	if (r < 0)
		daemon_say(daemon, "reading events: %s", strerror(-r));
	have_turns(daemon);
	if (r != 0 || waited)
		daemon_flush_soon(daemon);
	put_previous(daemon, drained, most);
	daemon->more_events = r > 0 && (unsigned int)r >= most;
	end_turn(daemon);
	return drained;
}

void events_release_kept(struct execution *e)
{
	const struct timeval now = {};

	settle_found(e);
	if (e->daemon->backlog_timer)
		evtimer_add(e->daemon->backlog_timer, &now);
	else
		(void)events_drain(e->daemon, EVENTS_ALL);
}

void events_leave(struct daemon *daemon)
{
	begin_turn(daemon, false);
	have_turns(daemon);
}

void events_await_previous(struct execution *e)
{
	const struct timeval now = {};

	e->previous_events = 0;
	e->daemon->with_previous++;
	if (e->daemon->backlog_timer)
		evtimer_add(e->daemon->backlog_timer, &now);
}

bool events_are_sent(const struct execution *e, uint64_t *ret_last)
{
	const struct cordon_execution *view = e->view;
	/* Before the number: what was counted by then has one that is no greater. */
	uint64_t sent = __atomic_load_n(&view->emitted, __ATOMIC_ACQUIRE) +
			__atomic_load_n(&view->dropped, __ATOMIC_ACQUIRE);

	*ret_last = __atomic_load_n(&view->sequence, __ATOMIC_RELAXED);
	return *ret_last <= sent;
}

bool events_caught_up(struct execution *e, bool drained)
{
	e->awaited_events += EVENTS_AT_A_TIME;
	if ((!drained && e->awaited_events < EVENTS_ALL) || !backlog_is_empty(&e->backlog))
		return false;
	e->awaited_events = 0;
	return true;
}

struct timeval events_pause(const struct execution *e)
{
	unsigned int msec = WRITING_MSEC;

	if (!backlog_is_empty(&e->backlog))
		msec = BACKLOG_MSEC;
	else if (e->daemon->more_events)
		msec = 0;
	return (struct timeval){.tv_usec = (suseconds_t)msec * 1000};
}

void events_settle(struct execution *e, uint64_t last)
{
	sequence_finish(&e->sequence, last, gap, e);
}

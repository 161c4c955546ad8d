/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the rings into the logs: what each event becomes, what is counted instead, and whose it is.
 */
#include "tests/unit/daemon/fake/world.h"

static struct execution *e;

static int setup(void **state)
{
	(void)state;
	world_new();
	e = world_live();
	return 0;
}

static int teardown(void **state)
{
	int r = 0;

	(void)state;
	if (world->by_slot[0] == e && e->state < EXECUTION_ENDING)
		ending_owner_gone(e);
	if (!world_settle())
		r = -1;
	world_end();
	return r;
}

static void emit_exec(void)
{
	const struct cordon_exec_event event = {.path_length = 8};

	kernel_emit_text(e->slot, &event, sizeof(event), "/bin/cat", CORDON_EVENT_EXEC);
}

static void emit_exit(pid_t pid, int code)
{
	struct cordon_exit_event event = {.exit_code = code, .user_ns = 3, .system_ns = 4};

	event.event.tgid = (uint32_t)pid;
	kernel_emit(e->slot, &event, sizeof(event), CORDON_EVENT_EXIT);
}

static void emit_denial(void)
{
	const struct cordon_denial_event event = {
		.operation = CORDON_OP_OPEN,
		.object_kind = CORDON_OBJECT_PATH,
		.rights = 1,
		.error = -EACCES,
		.rule = CORDON_NO_RULE,
		.object_length = 11,
		.object_total = 11,
	};

	kernel->slots[e->slot].denials++;
	kernel_emit_text(e->slot, &event, sizeof(event), "/etc/shadow", CORDON_EVENT_DENIAL);
}

static void emit_plain(uint32_t type)
{
	struct cordon_event event = {};

	kernel_emit(e->slot, &event, sizeof(event), type);
}

static void drain(void)
{
	events_drain(world, EVENTS_ALL);
}

/* --- records ------------------------------------------------------------------------------ */

static void test_records(void **state)
{
	(void)state;
	emit_plain(CORDON_EVENT_LABEL);
	emit_exec();
	emit_exit(1, 0);
	/* No more than asked for at a time. */
	events_drain(world, 2);
	assert_int_equal(kernel->event_count, 1);
	assert_int_equal(logs_count("process-exec", NULL), 1);
	drain();
	assert_int_equal(logs_count("process-exit", NULL), 1);
	assert_true(world->flush_pending);
	assert_int_equal(e->state, EXECUTION_LIVE);
	events_settle(e, e->view->sequence);
	assert_int_equal(logs_count("gap", NULL), 0);
}

/* It has no number, and where no rule marks its name no record. */
static void test_attempt_unmarked(void **state)
{
	const struct cordon_denial_event event = {
		.operation = CORDON_OP_LOOKUP,
		.object_kind = CORDON_OBJECT_PATH,
		.error = -EACCES,
		.rule = CORDON_NO_RULE,
		.reason = CORDON_REASON_PERMISSIONS,
		.object_length = 11,
		.object_total = 11,
	};
	struct cordon_denial_event broken = {.error = 1};

	(void)state;
	kernel_emit_text(e->slot, &event, sizeof(event), "/etc/shadow", CORDON_EVENT_ATTEMPT);
	kernel_emit(e->slot, &broken, sizeof(broken), CORDON_EVENT_ATTEMPT);
	drain();
	assert_int_equal(logs_count("attempt", NULL), 0);
	assert_int_equal(e->reported.count, 0);
	assert_int_equal(logs_count("gap", NULL), 0);
}

static json_int_t kept_repeats(void)
{
	json_t *record = reported_record(&e->reported, 0);
	json_int_t repeats =
		json_integer_value(json_object_get(json_object_get(record, "cordon"), "repeats"));

	json_decref(record);
	return repeats;
}

static void test_denials_kept_and_counted(void **state)
{
	(void)state;
	emit_denial();
	emit_denial();
	drain();
	/* Of two that are alike one, with the other counted. */
	assert_int_equal(e->reported.count, 1);
	assert_int_equal(world->denials_kept, 1);
	assert_int_equal(kept_repeats(), 1);
	assert_int_equal(e->state, EXECUTION_LIVE);
	/* The policy's limit. */
	emit_denial();
	emit_denial();
	drain();
	assert_int_equal(e->state, EXECUTION_ENDING);
	assert_int_equal(e->end.cause, AUDIT_END_DENIALS);
	/* What comes in while it ends is still on record. */
	assert_int_equal(kept_repeats(), 3);
	e->owner.connection = NULL;
}

/* Where all have kept much, each keeps one. */
static void test_denials_beyond(void **state)
{
	(void)state;
	world->denials_kept = 16384;
	emit_denial();
	emit_denial();
	((struct cordon_denial_event *)kernel->events[(kernel->event_first + 1) % FAKE_EVENTS].data)
		->operation = CORDON_OP_CREATE;
	drain();
	assert_int_equal(e->reported.count, 1);
	world->denials_kept -= 16384;
}

static void test_gap(void **state)
{
	json_t *last = NULL;

	(void)state;
	emit_exec();
	kernel_emit_lost(e->slot, 2);
	emit_exec();
	drain();
	assert_int_equal(logs_count("gap", NULL), 0);
	events_settle(e, 4);
	assert_int_equal(logs_count("gap", &last), 1);
	/* Once. */
	events_settle(e, e->view->sequence);
	assert_int_equal(logs_count("gap", NULL), 1);
}

/* One that makes no sense is a gap of its own number. */
static void test_malformed_of_execution(void **state)
{
	struct cordon_event event = {};

	(void)state;
	kernel_emit(e->slot, &event, sizeof(event), CORDON_EVENT_EXEC);
	drain();
	assert_int_equal(world->malformed, 1);
	assert_int_equal(logs_count("gap", NULL), 1);
	assert_non_null(strstr(seen.said, "is lost"));
}

static void test_too_short(void **state)
{
	const char nothing[8] = {};

	(void)state;
	events_handle(nothing, sizeof(nothing), world);
	assert_int_equal(world->malformed, 1);
	assert_int_equal(logs_count("agent-malformed-event", NULL), 1);
}

/* --- whose it is -------------------------------------------------------------------------- */

static void test_stray(void **state)
{
	struct cordon_event event = {.type = CORDON_EVENT_EXEC, .generation = 99};

	(void)state;
	event.slot = e->slot;
	events_handle(&event, sizeof(event), world);
	event.slot = 77;
	events_handle(&event, sizeof(event), world);
	event.slot = 0xffffffff;
	events_handle(&event, sizeof(event), world);
	assert_int_equal(world->strays, 3);
	assert_int_equal(logs_count("agent-stray-event", NULL), 3);
	assert_int_equal(logs_count("process-exec", NULL), 0);
}

/* It was seen to be empty before the kernel could say so. */
static void test_late_farewell(void **state)
{
	struct cordon_event event = {.type = CORDON_EVENT_EMPTY};

	(void)state;
	event.slot = e->slot;
	event.generation = e->generation;
	ending_owner_gone(e);
	assert_true(world_settle());
	events_handle(&event, sizeof(event), world);
	assert_int_equal(world->strays, 0);
	event.type = CORDON_EVENT_EXEC;
	events_handle(&event, sizeof(event), world);
	assert_int_equal(world->strays, 1);
}

static void test_empty_hurries(void **state)
{
	(void)state;
	kernel->death = FAKE_STUBBORN;
	ending_begin(e, AUDIT_END_KILLED);
	e->owner.connection = NULL;
	world_turn();
	assert_int_equal(e->state, EXECUTION_ENDING);
	kernel->slots[e->slot].tasks = 0;
	cgroups.populated = false;
	emit_plain(CORDON_EVENT_EMPTY);
	drain();
	world_turn();
	assert_true(world->unfinished == 0 || e->state >= EXECUTION_DEAD);
}

/* The kernel says when the grace is over; no record is made of the request. */
static void test_asked(void **state)
{
	(void)state;
	assert_false(evtimer_pending(e->timer, NULL));
	kernel->slots[e->slot].end_by = 1;
	emit_plain(CORDON_EVENT_ASKED);
	drain();
	assert_true(evtimer_pending(e->timer, NULL));
	assert_int_equal(world->malformed, 0);
	e->owner.connection = NULL;
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "cancelled");
}

/* While a change is under way, an event names the policy that decided. */
static void test_previous_policy(void **state)
{
	struct compiled_policy other = *e->policy->policy;
	struct policy_use before = {.policy = &other, .ref = 4242};
	json_t *last = NULL;
	char *text;

	(void)state;
	other.name = (char[]){"earlier"};
	e->previous = &before;
	emit_denial();
	((struct cordon_event *)kernel->events[kernel->event_first].data)->policy = before.ref;
	drain();
	e->previous = NULL;
	assert_int_equal(logs_count("denial", &last), 1);
	text = json_dumps(last, JSON_COMPACT);
	assert_non_null(strstr(text, "earlier"));
	free(text);
}

/* --- in turns ----------------------------------------------------------------------------- */

static unsigned int denials_of(const struct execution *whose)
{
	json_t *record;
	size_t i;
	unsigned int count = 0;

	json_array_foreach(fake_logs->records, i, record) {
		const char *id = "", *action = "";

		(void)json_unpack(record, "{s:{s:s},s:{s:{s:s}}}", "event", "action", &action,
				  "cordon", "execution", "id", &id);
		count += strcmp(action, "denial") == 0 && strcmp(id, whose->id) == 0;
	}
	return count;
}

static void emit_denials(struct execution *whose, unsigned int count)
{
	struct execution *before = e;

	e = whose;
	for (unsigned int i = 0; i < count; i++)
		emit_denial();
	e = before;
	/* The policy's limit is not what this is about. */
	kernel->slots[whose->slot].denials = 0;
}

/* One tells much, then another little: what that tells does not stand in line behind it. */
static void test_others_do_not_wait(void **state)
{
	struct execution *other = world_live();

	(void)state;
	emit_denials(e, 200);
	emit_denials(other, 3);
	assert_true(events_drain(world, EVENTS_AT_A_TIME));
	assert_int_equal(kernel->event_count, 0);
	assert_int_equal(denials_of(other), 3);
	assert_int_equal(denials_of(e), RECORDS_AT_A_TIME - 3);
	/* An end comes after what its own execution told. */
	assert_false(events_caught_up(e, true));
	assert_true(events_caught_up(other, true));
	for (int i = 0; i < 3; i++)
		events_drain(world, EVENTS_AT_A_TIME);
	assert_int_equal(denials_of(e), 200);
	assert_true(events_caught_up(e, true));
	events_settle(e, e->view->sequence);
	assert_int_equal(logs_count("gap", NULL), 0);
	ending_owner_gone(other);
}

/* What the log's writer has enough of waits, and is written when it has not, in order. */
static void test_writer_has_enough(void **state)
{
	(void)state;
	fake_logs->enough = true;
	emit_denials(e, 5);
	events_drain(world, EVENTS_AT_A_TIME);
	emit_exec();
	events_drain(world, EVENTS_AT_A_TIME);
	assert_int_equal(denials_of(e), 0);
	assert_int_equal(logs_count("process-exec", NULL), 0);
	fake_logs->enough = false;
	events_drain(world, EVENTS_AT_A_TIME);
	assert_int_equal(denials_of(e), 5);
	assert_int_equal(logs_count("process-exec", NULL), 1);
	events_settle(e, e->view->sequence);
	assert_int_equal(logs_count("gap", NULL), 0);
}

/* All of it is wanted, or there is nobody to look at it later. */
static void test_all_at_once(void **state)
{
	(void)state;
	fake_logs->enough = true;
	emit_denials(e, 5);
	events_drain(world, EVENTS_AT_A_TIME);
	emit_denials(e, 100);
	drain();
	assert_int_equal(denials_of(e), 105);
	emit_denials(e, 5);
	events_drain(world, EVENTS_AT_A_TIME);
	assert_int_equal(denials_of(e), 105);
	events_leave(world);
	assert_int_equal(denials_of(e), 110);
}

/* Denials that find no room are told as one gap; that a program ended is not lost with them. */
static void test_no_room(void **state)
{
	struct cordon_denial_event attempt = {.operation = CORDON_OP_LOOKUP};
	const size_t taken = (size_t)1 << 30;

	(void)state;
	fake_logs->enough = true;
	emit_denials(e, 1);
	events_drain(world, EVENTS_AT_A_TIME);
	assert_false(backlog_is_empty(&e->backlog));
	/* By others. */
	world->backlogs.size += taken;
	emit_denials(e, 100);
	kernel_emit(e->slot, &attempt, sizeof(attempt), CORDON_EVENT_ATTEMPT);
	emit_exit(1, 0);
	events_drain(world, EVENTS_AT_A_TIME);
	assert_int_equal(logs_count("process-exit", NULL), 1);
	world->backlogs.size -= taken;
	fake_logs->enough = false;
	events_drain(world, EVENTS_AT_A_TIME);
	assert_in_range(denials_of(e), 1, 99);
	/* The attempt as well. */
	assert_int_equal(e->lost, 101 - denials_of(e) + 1);
	events_settle(e, e->view->sequence);
	assert_int_equal(logs_count("gap", NULL), 1);
	assert_int_equal(e->sequence.settled, kernel->slots[e->slot].sequence);
}

/* A program of anybody's that is about to write its event holds up those behind it. */
static void test_held_up(void **state)
{
	(void)state;
	emit_denials(e, 1);
	kernel->writing = true;
	assert_false(events_caught_up(e, events_drain(world, EVENTS_AT_A_TIME)));
	assert_int_equal(events_pause(e).tv_usec, 1000);
	kernel->writing = false;
	assert_true(events_caught_up(e, events_drain(world, EVENTS_AT_A_TIME)));
	assert_int_equal(denials_of(e), 1);
	/* Not for ever. */
	emit_denials(e, 1);
	kernel->writing = true;
	for (unsigned int i = 1; i < EVENTS_ALL / EVENTS_AT_A_TIME; i++)
		assert_false(events_caught_up(e, events_drain(world, EVENTS_AT_A_TIME)));
	assert_true(events_caught_up(e, events_drain(world, EVENTS_AT_A_TIME)));
	kernel->writing = false;
	drain();
}

/* One that has given its event a number, and no room in a ring: that is no gap. */
static void test_numbered_only(void **state)
{
	struct cordon_event event = {};
	uint64_t last;

	(void)state;
	emit_exec();
	kernel->slots[e->slot].sequence++;
	assert_false(events_are_sent(e, &last));
	ending_owner_gone(e);
	for (int i = 0; i < 5; i++)
		ending_timer(-1, EV_TIMEOUT, e);
	assert_int_equal(e->state, EXECUTION_DEAD);
	assert_int_equal(logs_count("execution-end", NULL), 0);
	kernel->slots[e->slot].sequence--;
	kernel_emit(e->slot, &event, sizeof(event), CORDON_EVENT_EMPTY);
	assert_true(events_are_sent(e, &last));
	assert_int_equal(last, 2);
	ending_timer(-1, EV_TIMEOUT, e);
	assert_int_equal(logs_count("execution-end", NULL), 1);
	assert_int_equal(logs_count("gap", NULL), 0);
}

/* Nor is one that comes after the last reading. */
static void test_told_after_reading(void **state)
{
	(void)state;
	emit_exec();
	ending_owner_gone(e);
	kernel->tells = true;
	while (e->state < EXECUTION_FINISHED)
		ending_timer(-1, EV_TIMEOUT, e);
	assert_false(kernel->tells);
	assert_int_equal(logs_count("execution-end", NULL), 1);
	assert_int_equal(logs_count("gap", NULL), 0);
}

/* --- each call that can fail -------------------------------------------------------------- */

static void test_faults(void **state)
{
	(void)state;
	for (unsigned int n = 1;; n++) {
		uint64_t gaps;

		faults_set(n, ENOBUFS);
		emit_exec();
		emit_exit(1, 0);
		kernel_emit_lost(e->slot, 1);
		drain();
		/* What could not be read stays in the ring. */
		if (faults.failed && strcmp(faults.failed, "enforcement_drain") == 0) {
			assert_int_equal(kernel->event_count, 2);
			assert_non_null(strstr(seen.said, "reading events"));
			drain();
		}
		events_settle(e, e->view->sequence);
		gaps = e->sequence.settled;
		assert_int_equal(gaps, kernel->slots[e->slot].sequence);
		assert_int_equal(kernel->event_count, 0);
		assert_int_equal(e->state, EXECUTION_LIVE);
		assert_int_equal(world->malformed, 0);
		if (!faults.failed)
			break;
		assert_true(n < 20);
	}
	faults_none();
}

int main(void)
{
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_attempt_unmarked),
		ONE(test_held_up),
		ONE(test_numbered_only),
		ONE(test_told_after_reading),
		ONE(test_records),
		ONE(test_denials_kept_and_counted),
		ONE(test_denials_beyond),
		ONE(test_gap),
		ONE(test_malformed_of_execution),
		ONE(test_too_short),
		ONE(test_stray),
		ONE(test_late_farewell),
		ONE(test_empty_hurries),
		ONE(test_asked),
		ONE(test_previous_policy),
		ONE(test_others_do_not_wait),
		ONE(test_writer_has_enough),
		ONE(test_all_at_once),
		ONE(test_no_room),
		ONE(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

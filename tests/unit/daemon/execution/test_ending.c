/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an execution ends: each state with each cause, what resists, and what is left when a call
 * fails on the way.
 */
#include "tests/unit/daemon/fake/world.h"

#include <sys/mman.h>

static int setup(void **state)
{
	(void)state;
	world_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	world_end();
	return 0;
}

static void timer(struct execution *e)
{
	ending_timer(-1, EV_TIMEOUT, e);
}

static void tell(struct execution *e, int status)
{
	const struct ended_request ended = {.status = status, .user_nsec = 5, .system_nsec = 6};

	ending_told(e, &ended);
}

static void expect_end(const char *cause)
{
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), cause);
	assert_int_equal(seen.finished, 1);
	assert_true(seen.idle > 0);
	world_check_empty(NULL);
}

/* --- before anything ran ------------------------------------------------------------------ */

static void test_not_labelled(void **state)
{
	struct execution *e = world_prepare();

	(void)state;
	assert_int_equal(e->state, EXECUTION_PREPARED);
	assert_int_equal(world_entries("state"), 1);
	assert_int_equal(world_entries("cgroup"), 1);
	timer(e);
	assert_int_equal(e->state, EXECUTION_ENDING);
	assert_int_equal(e->view->state, CORDON_EXECUTION_ENDING);
	expect_end("");
	assert_int_equal(seen.end.cause, AUDIT_END_NOT_STARTED);
	/* Nothing ran: there is no start, and so no end. */
	assert_int_equal(logs_count("execution-start", NULL), 0);
}

static void test_owner_leaves_early(void **state)
{
	(void)state;
	ending_owner_gone(world_prepare());
	expect_end("");
	assert_int_equal(seen.end.cause, AUDIT_END_NOT_STARTED);
}

static void test_aborted(void **state)
{
	const struct abort_request aborted = {.error = ENOEXEC, .message = "no program"};
	json_t *last = NULL;
	char *text;

	(void)state;
	ending_aborted(world_prepare(), &aborted);
	expect_end("");
	assert_int_equal(logs_count("execution-refused", &last), 1);
	text = json_dumps(last, JSON_COMPACT);
	assert_non_null(strstr(text, "no program"));
	free(text);
}

static void test_aborted_after_start(void **state)
{
	const struct abort_request aborted = {.error = ENOEXEC, .message = "no program"};

	(void)state;
	ending_aborted(world_live(), &aborted);
	expect_end("not-started");
	assert_int_equal(logs_count("execution-refused", NULL), 0);
}

/* --- what ends one that lives ------------------------------------------------------------- */

static void test_exited(void **state)
{
	struct execution *e = world_live();
	struct ended_request ended = {.have_code = true, .code_length = 12, .user_nsec = 99};

	(void)state;
	memset(ended.code_digest, 0xab, sizeof(ended.code_digest));
	/* Whose digest it is, is said for what came from standard input. */
	assert_int_equal(e->record.code.source, AUDIT_CODE_STDIN);
	ending_told(e, &ended);
	assert_int_equal(e->record.code.length, 12);
	assert_int_equal(e->record.code.digest[0], 0xab);
	expect_end("exited");
	assert_true(seen.had_report);
	assert_int_equal(seen.end.killed_tasks, 1);
	assert_true(seen.end.have_status && seen.end.have_cpu && seen.end.have_memory);
	/* The cgroup counts what the owner cannot see. */
	assert_int_equal(seen.end.user_nsec, 7);
	assert_int_equal(seen.end.pids_peak, 3);
}

static void test_signaled(void **state)
{
	(void)state;
	tell(world_live(), SIGKILL);
	expect_end("signaled");
}

static void test_owner_gone(void **state)
{
	(void)state;
	ending_owner_gone(world_live());
	expect_end("owner-gone");
}

/* The owner is waited for when the daemon has killed its command, and then not any more. */
static void test_timeout_told(void **state)
{
	struct execution *e = world_live();

	(void)state;
	timer(e);
	assert_int_equal(e->state, EXECUTION_ENDING);
	timer(e);
	assert_int_equal(e->state, EXECUTION_DEAD);
	assert_true(e->ending.leader_killed);
	assert_int_equal(logs_count("execution-end", NULL), 0);
	tell(e, SIGKILL);
	assert_int_equal(e->state, EXECUTION_FINISHED);
	expect_end("timeout");
}

/* It ended by itself, and the loop was held up until its deadline was over, too. */
static void test_ended_in_time(void **state)
{
	struct execution *e = world_live();

	(void)state;
	e->leader = 4194000;
	timer(e);
	assert_int_equal(e->state, EXECUTION_LIVE);
	tell(e, 17 << 8);
	expect_end("exited");
}

/* Nobody told within the second that it had for that. */
static void test_not_told_in_time(void **state)
{
	struct execution *e = world_live();

	(void)state;
	e->leader = 4194000;
	timer(e);
	timer(e);
	assert_int_equal(e->state, EXECUTION_ENDING);
	ending_owner_gone(e);
	expect_end("timeout");
}

/* More than a turn of the loop may take: its end is written when all of it is on record. */
static void test_much_is_told(void **state)
{
	const struct cordon_exec_event event = {.path_length = 8};
	struct execution *e = world_live();

	(void)state;
	for (unsigned int i = 0; i < 2 * RECORDS_AT_A_TIME + 1; i++)
		kernel_emit_text(e->slot, &event, sizeof(event), "/bin/cat", CORDON_EVENT_EXEC);
	timer(e);
	timer(e);
	tell(e, 0);
	assert_int_equal(e->state, EXECUTION_DEAD);
	assert_int_equal(logs_count("process-exec", NULL), RECORDS_AT_A_TIME);
	assert_int_equal(logs_count("execution-end", NULL), 0);
	timer(e);
	assert_int_equal(e->state, EXECUTION_DEAD);
	timer(e);
	assert_int_equal(e->state, EXECUTION_FINISHED);
	assert_int_equal(logs_count("process-exec", NULL), 2 * RECORDS_AT_A_TIME + 1);
	assert_int_equal(logs_count("gap", NULL), 0);
	expect_end("timeout");
}

/* Others who tell more than is read put an end off for so long only. */
static void test_others_tell_more(void **state)
{
	struct execution *e = world_live();
	unsigned int turns = 1;

	(void)state;
	while (!events_caught_up(e, false))
		turns++;
	assert_int_equal(turns, EVENTS_ALL / EVENTS_AT_A_TIME);
	assert_false(events_caught_up(e, false));
	assert_true(events_caught_up(e, true));
	assert_int_equal(e->awaited_events, 0);
	tell(e, 0);
	expect_end("exited");
}

static void test_timeout_not_told(void **state)
{
	struct execution *e = world_live();

	(void)state;
	timer(e);
	timer(e);
	assert_int_equal(e->state, EXECUTION_DEAD);
	timer(e);
	assert_int_equal(e->state, EXECUTION_FINISHED);
	expect_end("timeout");
	assert_false(seen.end.have_status);
}

static void test_timeout_owner_dies(void **state)
{
	struct execution *e = world_live();

	(void)state;
	timer(e);
	timer(e);
	ending_owner_gone(e);
	assert_int_equal(e->state, EXECUTION_FINISHED);
	assert_null(e->owner.connection);
	expect_end("timeout");
}

/* A recovered one whose owner lives is waited for without a connection. */
static void test_lost_owner_is_waited_for(void **state)
{
	struct execution *e = world_live();

	(void)state;
	e->owner.connection = NULL;
	e->recovered = true;
	ending_begin(e, AUDIT_END_RECOVERED);
	timer(e);
	assert_int_equal(e->state, EXECUTION_DEAD);
	tell(e, 0);
	expect_end("recovered");
}

static void test_first_cause_stays(void **state)
{
	struct execution *e = world_live();

	(void)state;
	ending_begin(e, AUDIT_END_KILLED);
	ending_begin(e, AUDIT_END_TIMEOUT);
	ending_owner_gone(e);
	tell(e, 0);
	expect_end("killed");
}

/* --- denials ------------------------------------------------------------------------------ */

static void test_denials(void **state)
{
	struct execution *e = world_live();

	(void)state;
	kernel->slots[e->slot].denials = 2;
	ending_check_denials(e);
	assert_int_equal(e->state, EXECUTION_LIVE);
	kernel->slots[e->slot].denials = 3;
	ending_check_denials(e);
	assert_int_equal(e->state, EXECUTION_ENDING);
	/* Nor twice. */
	ending_check_denials(e);
	ending_owner_gone(e);
	expect_end("denials");
	assert_int_equal(seen.end.denials, 3);
}

/* --- what resists ------------------------------------------------------------------------- */

static void test_dies_late(void **state)
{
	struct execution *e = world_live();

	(void)state;
	kernel->death = FAKE_LATE;
	ending_owner_gone(e);
	assert_int_equal(e->view->tasks, 1);
	expect_end("owner-gone");
	/* Counted once. */
	assert_int_equal(seen.end.killed_tasks, 1);
}

/* The leader's end is heard of while it is at it: it was not killed. */
static void test_ends_by_itself(void **state)
{
	struct execution *e = world_live();

	(void)state;
	kernel->exiting = true;
	ending_owner_gone(e);
	expect_end("owner-gone");
	assert_int_equal(seen.end.killed_tasks, 0);
}

static void test_stuck(void **state)
{
	struct execution *e = world_live();

	(void)state;
	kernel->death = FAKE_STUBBORN;
	ending_owner_gone(e);
	/* Its last task is said to be gone, but is not: it is looked at, no more. */
	ending_hurry(e);
	for (int i = 0; i < 12; i++)
		timer(e);
	assert_int_equal(seen.stuck, 0);
	e->ending.since -= 11 * NSEC_PER_SEC;
	timer(e);
	timer(e);
	assert_int_equal(seen.stuck, 1);
	assert_int_equal(logs_count("agent-stuck", NULL), 1);
	assert_non_null(strstr(seen.said, "survive SIGKILL"));
	assert_int_equal(e->state, EXECUTION_ENDING);
	kernel->death = FAKE_DIES;
	for (int i = 0; i < 9; i++)
		if (e->state == EXECUTION_ENDING)
			timer(e);
	expect_end("owner-gone");
}

/* One that somebody outside is the parent of, and does not wait for. */
static void test_zombie(void **state)
{
	struct execution *e = world_live();
	uint32_t slot = e->slot;

	(void)state;
	kernel->death = FAKE_ZOMBIE;
	ending_owner_gone(e);
	for (int i = 0; i < 16 && e->state == EXECUTION_ENDING; i++)
		timer(e);
	assert_int_equal(e->state, EXECUTION_FINISHED);
	while (seen.finished == 0)
		world_turn();
	/* Somebody may yet wait for it. */
	assert_true(e->ending.waited);
	assert_int_equal(kernel->slots[slot].tasks, 1);
	assert_ptr_equal(world->by_slot[slot], e);
	/* Then it loses its slot; what is not dead is killed first. */
	faults_set_for("enforcement_retire", EBUSY);
	timer(e);
	assert_ptr_equal(world->by_slot[slot], e);
	timer(e);
	assert_null(world->by_slot[slot]);
	world_check_empty(NULL);
}

/* Only what is in the cgroup is left: a child that has no label yet. */
static void test_held_child(void **state)
{
	struct execution *e = world_prepare();

	(void)state;
	cgroups.populated = cgroups.survives = true;
	timer(e);
	for (int i = 0; i < 10; i++)
		timer(e);
	assert_int_equal(e->state, EXECUTION_ENDING);
	assert_true(cgroups.kills >= 2);
	cgroups.populated = false;
	expect_end("");
}

static void test_without_cgroup(void **state)
{
	struct execution *e = world_live();

	(void)state;
	closep(&e->cgroup_fd);
	e->cgroup_fd = -1;
	ending_owner_gone(e);
	expect_end("owner-gone");
	assert_false(seen.end.have_pids);
}

/* --- records and remains ------------------------------------------------------------------ */

static void test_slow_log(void **state)
{
	struct execution *e = world_live();

	(void)state;
	fake_logs->hold = true;
	ending_owner_gone(e);
	while (e->state != EXECUTION_FINISHED)
		timer(e);
	assert_int_equal(seen.finished, 0);
	assert_true(e->ending.untold);
	/* A second call is not a second end. */
	ending_owner_gone(e);
	ending_begin(e, AUDIT_END_KILLED);
	assert_int_equal(seen.finished, 0);
	timer(e);
	expect_end("owner-gone");
}

static void test_end_not_written(void **state)
{
	(void)state;
	fake_logs->written = -ENOSPC;
	ending_owner_gone(world_live());
	expect_end("owner-gone");
	assert_non_null(strstr(seen.said, "its end record waits for room"));
}

static void test_busy_cgroup(void **state)
{
	(void)state;
	cgroups.busy = 3;
	ending_owner_gone(world_live());
	expect_end("owner-gone");
	assert_null(strstr(seen.said, "cannot be removed"));
}

static void test_remains(void **state)
{
	struct execution *e = world_live();

	(void)state;
	cgroups.busy = 1000;
	ending_owner_gone(e);
	while (e->state != EXECUTION_FINISHED || e->ending.untold) {
		if (e->state != EXECUTION_FINISHED)
			timer(e);
		world_turn();
	}
	e->ending.steps = 98;
	timer(e);
	timer(e);
	/* It is said, and the execution is over. */
	assert_int_equal(world->unfinished, 0);
	assert_non_null(strstr(seen.said, "the cgroup "));
	assert_int_equal(kernel_used_slots(), 0);
}

/* A directory with more than is removed in one go, and one that cannot be removed. */
static void test_large_tmp(void **state)
{
	struct execution *e = world_live();
	char path[128];

	(void)state;
	for (int i = 0; i < 1100; i++) {
		snprintf(path, sizeof(path), "/tmp/%s/%d", e->name, i);
		close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	}
	snprintf(path, sizeof(path), "/tmp/%s", e->name);
	ending_owner_gone(e);
	expect_end("owner-gone");
	assert_int_equal(access(path, F_OK), -1);
}

static void test_code_watched(void **state)
{
	struct execution *e = world_live();
	struct cordon_code *code = &kernel->slots[e->slot].code;
	json_t *last = NULL;
	char *text;

	(void)state;
	e->record.code.source = AUDIT_CODE_FILE;
	e->record.code.have_digest = true;
	code->watch = CORDON_CODE_CHANGED;
	code->opens = 2;
	code->opened.inode = 77;
	ending_owner_gone(e);
	expect_end("owner-gone");
	assert_int_equal(logs_count("execution-end", &last), 1);
	text = json_dumps(last, JSON_COMPACT);
	/* Something else was opened: what was hashed is not what ran. */
	assert_null(strstr(text, WORLD_DIGEST));
	free(text);
}

/* A start whose writing is still waited for is followed by the end. */
static void test_start_being_written(void **state)
{
	struct execution *e = world_live();

	(void)state;
	fake_logs->hold = true;
	assert_int_equal(logs_when_written(e->log, NULL, e, &e->writing), 0);
	ending_begin(e, AUDIT_END_KILLED);
	assert_null(e->writing);
	fake_logs->hold = false;
	ending_owner_gone(e);
	expect_end("killed");
}

/* --- the first process of an adopted one -------------------------------------------------- */

static void leader_gone(int status, bool begun, uint64_t deadline)
{
	struct execution *e = world_live();

	e->adoption.begun = begun;
	enforcement_set_deadline(world->enforcement, e->slot, deadline);
	e->end.have_status = status >= 0;
	e->end.status = status;
	ending_leader_gone(e);
}

static void test_leader_exited(void **state)
{
	(void)state;
	leader_gone(0, true, 0);
	expect_end("exited");
}

static void test_leader_signaled(void **state)
{
	(void)state;
	leader_gone(SIGSEGV, true, 0);
	expect_end("signaled");
}

static void test_leader_late(void **state)
{
	(void)state;
	leader_gone(SIGKILL, true, 1);
	expect_end("timeout");
}

/* Its executor has asked it to end; which of two deadlines was first says why it ended. */
static void ends_by(uint64_t deadline, uint64_t end_by, const char *cause)
{
	struct execution *e = world_live();

	kernel->slots[e->slot].deadline = deadline;
	kernel->slots[e->slot].end_by = end_by;
	timer(e);
	timer(e);
	timer(e);
	expect_end(cause);
}

static void test_asked(void **state)
{
	(void)state;
	ends_by(0, 1, "cancelled");
}

static void test_asked_before_its_time(void **state)
{
	(void)state;
	ends_by(2, 1, "cancelled");
}

static void test_asked_too_late(void **state)
{
	(void)state;
	ends_by(1, 2, "timeout");
}

static void test_asked_leader_gone(void **state)
{
	struct execution *e = world_live();

	(void)state;
	kernel->slots[e->slot].end_by = 1;
	e->adoption.begun = true;
	e->end.have_status = true;
	e->end.status = SIGKILL;
	ending_leader_gone(e);
	expect_end("cancelled");
}

static void test_leader_not_begun(void **state)
{
	(void)state;
	leader_gone(-1, false, 0);
	expect_end("not-started");
}

/* --- each call that can fail -------------------------------------------------------------- */

static void by_owner(struct execution *e)
{
	ending_owner_gone(e);
}

static void by_timeout(struct execution *e)
{
	timer(e);
	tell(e, SIGKILL);
}

static void by_kill(struct execution *e)
{
	kernel->death = FAKE_LATE;
	cgroups.populated = true;
	ending_begin(e, AUDIT_END_KILLED);
	ending_owner_gone(e);
}

/* What went where is on record before the end, and what was not told apart as one. */
static void test_traffic(void **state)
{
	struct execution *e = world_live();
	json_t *last = NULL;

	(void)state;
	kernel->traffic_count = 2;
	for (int i = 0; i < 2; i++) {
		kernel->traffic[i].packets_sent = 3;
		memcpy(kernel->traffic[i].name, (unsigned char[]){4, 6, 10, 0, 0, 1, 0, 80}, 8);
	}
	kernel->slots[e->slot].packets_sent = 7;
	kernel->slots[e->slot].bytes_sent = 4000;
	tell(e, 0);
	expect_end("exited");
	assert_int_equal(logs_count("traffic", &last), 3);
	last = json_object_get(json_object_get(last, "cordon"), "traffic");
	assert_string_equal(json_string_value(json_object_get(last, "direction")), "other");
	assert_int_equal(json_integer_value(json_object_get(last, "packets_sent")), 1);
	assert_int_equal(json_integer_value(json_object_get(last, "bytes_sent")), 4000);
	last = json_array_get(fake_logs->records, json_array_size(fake_logs->records) - 1);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(last, "event"), "action")),
		"execution-end");
}

/*
 * The whole life, where the n-th call fails: whatever that was, it is over in the end, and told
 * once.
 */
static bool live_with_fault(unsigned int n, void (*end)(struct execution *e))
{
	struct execution *e = NULL;
	bool failed;

	world_new();
	faults_set(n, EIO);
	if (world_try_prepare(getpid(), "p", false, &e) == 0) {
		kernel->slots[e->slot].ipc_objects = 1;
		if (world_try_label(e, 4194000) < 0)
			ending_begin(e, AUDIT_END_NOT_STARTED);
		else
			end(e);
		if (e->state < EXECUTION_DEAD)
			e->owner.connection = NULL;
		if (!world_settle())
			fail_msg("not over after %s failed:\n%s", faults.failed, seen.said);
		assert_int_equal(seen.finished, 1);
		/*
		 * A record that cannot be appended is counted by the log; all else is said or
		 * recorded.
		 */
		if (faults.failed && strcmp(faults.failed, "enforcement_release") == 0)
			assert_non_null(strstr(seen.said, "its slot cannot be released"));
		if (faults.failed && strcmp(faults.failed, "enforcement_kill") == 0)
			assert_non_null(strstr(seen.said, "killing by label"));
		if (faults.failed && strcmp(faults.failed, "enforcement_drain") == 0)
			assert_non_null(strstr(seen.said, "reading events"));
		if (faults.failed && strcmp(faults.failed, "enforcement_list_ipc") == 0)
			assert_non_null(strstr(seen.said, "cannot be listed"));
		if (faults.failed && strcmp(faults.failed, "enforcement_traffic") == 0)
			assert_non_null(strstr(seen.said, "traffic by destination"));
	} else {
		assert_non_null(faults.failed);
		assert_true(logs_count("execution-refused", NULL) == 1 ||
			    strcmp(faults.failed, "logs_append") == 0);
	}
	failed = faults.failed != NULL;
	world_check_empty(faults.failed);
	world_end();
	return failed;
}

static void test_faults(void **state)
{
	static void (*const ends[])(struct execution *) = {by_owner, by_timeout, by_kill};

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		unsigned int n = 1;

		while (live_with_fault(n, ends[i]))
			n++;
		/* There were calls to fail. */
		assert_true(n > 12);
	}
}

int main(void)
{
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_not_labelled),
		ONE(test_owner_leaves_early),
		ONE(test_aborted),
		ONE(test_aborted_after_start),
		ONE(test_exited),
		ONE(test_traffic),
		ONE(test_signaled),
		ONE(test_owner_gone),
		ONE(test_timeout_told),
		ONE(test_ended_in_time),
		ONE(test_not_told_in_time),
		ONE(test_much_is_told),
		ONE(test_others_tell_more),
		ONE(test_timeout_not_told),
		ONE(test_timeout_owner_dies),
		ONE(test_lost_owner_is_waited_for),
		ONE(test_first_cause_stays),
		ONE(test_denials),
		ONE(test_dies_late),
		ONE(test_ends_by_itself),
		ONE(test_stuck),
		ONE(test_zombie),
		ONE(test_held_child),
		ONE(test_without_cgroup),
		ONE(test_slow_log),
		ONE(test_end_not_written),
		ONE(test_busy_cgroup),
		ONE(test_remains),
		ONE(test_large_tmp),
		ONE(test_code_watched),
		ONE(test_start_being_written),
		ONE(test_leader_exited),
		ONE(test_leader_signaled),
		ONE(test_leader_late),
		ONE(test_asked),
		ONE(test_asked_before_its_time),
		ONE(test_asked_too_late),
		ONE(test_asked_leader_gone),
		ONE(test_leader_not_begun),
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

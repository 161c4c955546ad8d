/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the next daemon makes of what a crash has left: who goes on, who is ended, what is told of
 * it, what is removed.
 */
#include "tests/unit/daemon/fake/world.h"

#include "daemon/execution/leftovers.h"
#include "daemon/execution/recovery.h"
#include "daemon/execution/resume.h"

static int setup(void **state)
{
	(void)state;
	world_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (world->leftovers)
		leftovers_free(world->leftovers);
	world_end();
	return 0;
}

/* The daemon dies, and the next one finds the kernel as it was. */
static void crash(void)
{
	world_crash();
	world_start();
	world->origin = ENFORCEMENT_RECOVERED;
}

static int recover(void)
{
	struct failure failure = {};
	int r = recovery_run(world, &failure);

	assert_int_equal(r < 0, failure.text[0] != '\0');
	if (r == 0 && !world_read_all())
		fail_msg("recovery is not over:\n%s", seen.said);
	return r;
}

static json_t *recovered(void)
{
	json_t *last = NULL;

	assert_int_equal(logs_count("agent-recover", &last), 1);
	return json_object_get(json_object_get(last, "cordon"), "agent");
}

static void expect(const char *what, int count)
{
	int is = (int)json_integer_value(json_object_get(recovered(), what));

	if (is != count)
		fail_msg("%s: %d, not %d; %s", what, is, count, seen.said);
}

static struct execution *owned_by(pid_t owner)
{
	struct execution *e = world_prepare_as(owner, "p", false);

	assert_int_equal(world_try_label(e, 4194000), 0);
	return e;
}

static void finish_all(void)
{
	for (uint32_t slot = 0; slot < 16; slot++)
		if (world->by_slot[slot] && world->by_slot[slot]->state < EXECUTION_ENDING)
			ending_owner_gone(world->by_slot[slot]);
	assert_true(world_settle());
}

/* --- who goes on -------------------------------------------------------------------------- */

static void test_nothing_there(void **state)
{
	(void)state;
	world->origin = ENFORCEMENT_LOADED;
	assert_int_equal(recover(), 0);
	assert_int_equal(logs_count("agent-recover", NULL), 0);
	world->origin = ENFORCEMENT_RECOVERED;
	assert_int_equal(recover(), 0);
	expect("executions", 0);
}

static void test_resumed(void **state)
{
	pid_t owner = world_child();
	struct execution *e = owned_by(owner);
	char id[UUID_TEXT_SIZE];

	(void)state;
	strcpy(id, e->id);
	crash();
	assert_int_equal(recover(), 0);
	expect("executions", 1);
	expect("resumed", 1);
	expect("failures", 0);
	e = execution_find(world, id);
	assert_non_null(e);
	assert_true(e->resumed && e->recovered && e->started && e->written);
	assert_int_equal(e->state, EXECUTION_LIVE);
	assert_string_equal(e->policy->policy->name, "p");
	assert_string_equal(e->record.executor, "cordon-run");
	/* Its work directory and its temporary one are held. */
	assert_int_equal(e->directory_count, 2);
	/* Its owner dies, which nobody but the next daemon can notice. */
	world_kill(owner);
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "owner-gone");
	assert_int_equal(logs_count("execution-end", NULL), 1);
	world_check_empty(NULL);
}

/* Two of one policy have it compiled once. */
static void test_two_resumed(void **state)
{
	pid_t owner = world_child();

	(void)state;
	(void)owned_by(owner);
	(void)owned_by(owner);
	crash();
	assert_int_equal(recover(), 0);
	expect("resumed", 2);
	assert_int_equal(policies_count(world->policies), 1);
	assert_ptr_equal(world->by_slot[0]->policy, world->by_slot[1]->policy);
	finish_all();
	world_check_empty(NULL);
}

static void test_deadline_goes_on(void **state)
{
	pid_t owner = world_child();
	struct execution *e = owned_by(owner);
	uint64_t start = e->start;

	(void)state;
	e->record.limits.wall_nsec = 3 * NSEC_PER_SEC;
	json_object_set_new(e->request, "limits",
			    json_pack("{s:I}", "wall_nsec",
				      (json_int_t)e->record.limits.wall_nsec));
	deadline_start(e);
	assert_int_equal(state_save(world->state_fd, e, NULL), 0);
	crash();
	assert_int_equal(recover(), 0);
	e = world->by_slot[0];
	assert_int_equal(e->start, start);
	assert_int_equal(e->deadline, start + 3 * NSEC_PER_SEC);
	while (e->state == EXECUTION_LIVE)
		world_turn();
	world_kill(owner);
	ending_owner_gone(e);
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "timeout");
}

static void test_owner_is_dead(void **state)
{
	pid_t owner = world_child();

	(void)state;
	(void)owned_by(owner);
	world_kill(owner);
	crash();
	assert_int_equal(recover(), 0);
	expect("resumed", 0);
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "recovered");
	world_check_empty(NULL);
}

/* Its deadline was over, which is what ended it. */
static void test_deadline_was_over(void **state)
{
	pid_t owner = world_child();
	struct execution *e = owned_by(owner);

	(void)state;
	kernel->slots[e->slot].deadline = 1;
	world_kill(owner);
	crash();
	assert_int_equal(recover(), 0);
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "timeout");
}

static void test_only_prepared(void **state)
{
	(void)state;
	(void)world_prepare_as(world_child(), "p", false);
	crash();
	assert_int_equal(recover(), 0);
	expect("executions", 1);
	expect("resumed", 0);
	assert_true(world_settle());
	assert_int_equal(logs_count("execution-end", NULL), 0);
	world_check_empty(NULL);
}

static void test_was_ending(void **state)
{
	struct execution *e = owned_by(world_child());

	(void)state;
	kernel->death = FAKE_STUBBORN;
	ending_begin(e, AUDIT_END_KILLED);
	kernel->death = FAKE_DIES;
	crash();
	assert_int_equal(recover(), 0);
	expect("resumed", 0);
	/* Its owner lives, and is waited for. */
	for (uint32_t i = 0;
	     world->by_slot[0] && i < 1000 && world->by_slot[0]->state < EXECUTION_DEAD; i++)
		world_turn();
	assert_non_null(world->by_slot[0]);
	ending_owner_gone(world->by_slot[0]);
	assert_true(world_settle());
	assert_int_equal(logs_count("execution-end", NULL), 1);
	world_check_empty(NULL);
}

/* --- its policy --------------------------------------------------------------------------- */

/* Its file says something else by now: the log has what it was. */
static void test_policy_from_log(void **state)
{
	(void)state;
	(void)owned_by(world_child());
	world_write("policies/p.yaml", "version: 1\nname: p\nfiles: []\n");
	crash();
	assert_int_equal(recover(), 0);
	expect("resumed", 1);
	assert_string_equal(world->by_slot[0]->policy->policy->name, "p");
	finish_all();
}

static void remove_file(const char *name)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s", world_path(name));
	assert_int_equal(system(command), 0);
}

/* Nobody knows it any more: it cannot be used, but its digest is told. */
static void test_policy_lost(void **state)
{
	(void)state;
	(void)owned_by(world_child());
	remove_file("policies/p.yaml");
	remove_file("log/policies");
	crash();
	assert_int_equal(recover(), 0);
	expect("resumed", 0);
	assert_int_equal(world->executions, 1);
	ending_owner_gone(world->by_slot[0]);
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "recovered");
}

/* The daemon died between the record of a change and the swap, or after it. */
static void changing(bool made)
{
	struct execution *e;
	const struct policy_use *use = NULL;
	struct failure failure = {};
	char *message = NULL;

	world_write("policies/q.yaml", "version: 1\nname: q\nfiles: []\n");
	e = owned_by(world_child());
	assert_int_equal(policies_get(world->policies, "q", false, &use, &message, &failure), 0);
	e->changing = use->policy;
	e->changing_name = "q";
	assert_int_equal(state_save(world->state_fd, e, NULL), 0);
	if (made)
		enforcement_set_policy(kernel, e->slot, use->ref);
	e->changing = NULL;
	crash();
}

static void test_change_made(void **state)
{
	(void)state;
	changing(true);
	assert_int_equal(recover(), 0);
	expect("resumed", 1);
	assert_string_equal(world->by_slot[0]->policy->policy->name, "q");
	assert_string_equal(world->by_slot[0]->policy_name, "q");
	assert_int_equal(logs_count("agent-policy-unchanged", NULL), 0);
	finish_all();
}

static void test_change_not_made(void **state)
{
	(void)state;
	changing(false);
	assert_int_equal(recover(), 0);
	expect("resumed", 1);
	assert_string_equal(world->by_slot[0]->policy->policy->name, "p");
	assert_int_equal(logs_count("agent-policy-unchanged", NULL), 1);
	finish_all();
}

/* --- what is on record -------------------------------------------------------------------- */

static void emit_exec(struct execution *e)
{
	const struct cordon_exec_event event = {.path_length = 8};

	kernel_emit_text(e->slot, &event, sizeof(event), "/bin/cat", CORDON_EVENT_EXEC);
}

static void test_events_between(void **state)
{
	struct execution *e = owned_by(world_child());

	(void)state;
	emit_exec(e);
	events_drain(world, EVENTS_ALL);
	crash();
	/* One was lost with the daemon; one comes after. */
	kernel_emit_lost(0, 1);
	assert_int_equal(recover(), 0);
	assert_int_equal(logs_count("gap", NULL), 1);
	emit_exec(world->by_slot[0]);
	events_drain(world, EVENTS_ALL);
	finish_all();
	assert_int_equal(logs_count("gap", NULL), 1);
}

/* The end was written, and then the daemon died before it could remove what was left. */
static void test_end_is_on_record(void **state)
{
	pid_t owner = world_child();
	struct execution *e = owned_by(owner);

	(void)state;
	cgroups.busy = 1000;
	kernel->death = FAKE_ZOMBIE;
	ending_owner_gone(e);
	while (e->state != EXECUTION_FINISHED)
		ending_timer(-1, EV_TIMEOUT, e);
	kernel->death = FAKE_DIES;
	cgroups.busy = 0;
	assert_int_equal(logs_count("execution-end", NULL), 1);
	/* That nobody is left, which this daemon has read. */
	kernel_emit_lost(0, 1);
	world_kill(owner);
	crash();
	assert_int_equal(recover(), 0);
	assert_true(world_settle());
	/* Not told twice, and nothing is missing. */
	assert_int_equal(logs_count("execution-end", NULL), 0);
	assert_int_equal(logs_count("gap", NULL), 0);
	world_check_empty(NULL);
}

static void test_no_state_file(void **state)
{
	struct execution *e = owned_by(world_child());

	(void)state;
	state_remove(world->state_fd, e->id);
	crash();
	assert_int_equal(recover(), 0);
	expect("resumed", 0);
	e = world->by_slot[0];
	assert_string_equal(e->record.executor, "unknown");
	ending_owner_gone(e);
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "recovered");
	world_check_empty(NULL);
}

/* Its log cannot be opened: its end goes to the daemon's own. */
static void test_no_log(void **state)
{
	pid_t owner = world_child();
	struct execution *e = owned_by(owner);

	(void)state;
	logs_put(e->log);
	assert_int_equal(logs_get(world->logs, world_path("other"), &e->log, NULL), 0);
	assert_int_equal(state_save(world->state_fd, e, NULL), 0);
	world_kill(owner);
	crash();
	faults_set_for("logs_when_begun", EACCES);
	assert_int_equal(recover(), 0);
	assert_non_null(strstr(seen.said, "its end goes to"));
	assert_true(world_settle());
	assert_int_equal(logs_count("execution-end", NULL), 1);
}

/* Its command had ended, and the daemon died before that was on record. */
static void test_told_before(void **state)
{
	struct ended_request ended = {.status = 17 << 8, .user_nsec = 5};
	pid_t owner = world_child();
	struct execution *e = owned_by(owner);
	json_t *last = NULL;

	(void)state;
	kernel->death = FAKE_STUBBORN;
	ending_told(e, &ended);
	kernel->death = FAKE_DIES;
	world_kill(owner);
	crash();
	assert_int_equal(recover(), 0);
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "exited");
	assert_int_equal(logs_count("execution-end", &last), 1);
	last = json_object_get(json_object_get(last, "cordon"), "end");
	assert_int_equal(json_integer_value(json_object_get(last, "exit_code")), 17);
	world_check_empty(NULL);
}

/* Its log does not answer: it runs, and can be ended, and is recorded as far as is known then. */
static void test_log_hangs(void **state)
{
	pid_t owner = world_child();
	struct execution *e = owned_by(owner);
	struct failure failure = {};

	(void)state;
	emit_exec(e);
	events_drain(world, EVENTS_ALL);
	crash();
	world->logs->restarts = world->logs->hold = true;
	assert_int_equal(recovery_run(world, &failure), 0);
	e = world->by_slot[0];
	assert_true(e->resumed && e->unread);
	/* Its events wait. */
	emit_exec(e);
	events_drain(world, EVENTS_ALL);
	assert_int_equal(logs_count("process-exec", NULL), 0);
	world_kill(owner);
	ending_owner_gone(e);
	for (unsigned int i = 0; i < 1000 && e->state < EXECUTION_DEAD; i++)
		world_turn();
	assert_int_equal(e->state, EXECUTION_DEAD);
	assert_int_equal(logs_count("execution-end", NULL), 0);
	/* It answers. */
	world->logs->hold = false;
	event_active(LIST_FIRST(&world->logs->waits)->event, EV_TIMEOUT, 1);
	assert_true(world_read_all());
	assert_int_equal(logs_count("process-exec", NULL), 1);
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "owner-gone");
	assert_int_equal(logs_count("gap", NULL), 0);
	world_check_empty(NULL);
}

/* --- executors' --------------------------------------------------------------------------- */

static void test_standing_ready(void **state)
{
	struct enforcement_binding binding = {.executor = 1};
	uint32_t slot;

	(void)state;
	assert_int_equal(enforcement_bind(kernel, &binding, &slot), 0);
	crash();
	assert_int_equal(recover(), 0);
	expect("executions", 0);
	assert_null(world->by_slot[slot]);
	/* Taken meanwhile, but nobody has written it down: it is found as a new one. */
	kernel->slots[slot].adopted = 1;
	kernel->slots[slot].state = CORDON_EXECUTION_HELD;
	assert_int_equal(recover(), 0);
	assert_null(world->by_slot[slot]);
	kernel->slots[slot].state = CORDON_EXECUTION_FREE;
}

static void test_adopted(void **state)
{
	struct execution *e = owned_by(world_child());

	(void)state;
	kernel->slots[e->slot].executor = 1;
	kernel->slots[e->slot].adopted = 1;
	e->adoption.in_order = true;
	assert_int_equal(state_save(world->state_fd, e, NULL), 0);
	crash();
	assert_int_equal(recover(), 0);
	e = world->by_slot[0];
	assert_true(e->adopted && e->adoption.begun && e->adoption.in_order);
	assert_int_equal(e->state, EXECUTION_LIVE);
	finish_all();
}

/* --- what is left without an execution ---------------------------------------------------- */

#define GONE "01a200b0-9a16-761b-9929-42330cf895e5"

static void test_leftover_cgroup(void **state)
{
	(void)state;
	assert_int_equal(mkdirat(world->cgroups.fd, GONE, 0700), 0);
	assert_int_equal(mkdirat(world->cgroups.fd, "somebody's", 0700), 0);
	cgroups.busy = 2;
	assert_int_equal(recover(), 0);
	expect("cgroups", 1);
	/* What is not an execution's stays. */
	assert_int_equal(world_entries("cgroup"), 1);
	assert_int_equal(cgroups.kills, 1);
}

static void test_cgroup_stays(void **state)
{
	(void)state;
	assert_int_equal(mkdirat(world->cgroups.fd, GONE, 0700), 0);
	world->origin = ENFORCEMENT_RECOVERED;
	faults_set_for("cgroup_remove", EIO);
	assert_int_equal(recover(), 0);
	expect("failures", 1);
	assert_non_null(strstr(seen.said, "cannot be removed"));
}

/* The slots went, as by `cordon disable --force`: what the state file tells is all that is left. */
static void test_lost(void **state)
{
	struct execution *e = owned_by(world_child());
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/%s", e->name);
	assert_int_equal(access(path, F_OK), 0);
	emit_exec(e);
	events_drain(world, EVENTS_ALL);
	crash();
	world->origin = ENFORCEMENT_LOADED;
	memset(kernel->slots, 0, sizeof(kernel->slots[0]));
	assert_int_equal(recover(), 0);
	expect("state_files", 1);
	expect("directories", 1);
	expect("cgroups", 1);
	assert_string_equal(world_end_cause(), "recovered");
	assert_int_equal(logs_count("agent-lost", NULL), 1);
	/* Removed from the loop. */
	assert_true(world_settle());
	assert_null(world->leftovers);
	assert_true(seen.idle > 0);
	assert_int_equal(access(path, F_OK), -1);
	world_check_empty(NULL);
}

/* --- each call that can fail -------------------------------------------------------------- */

/* Whatever failed: it says why, or nothing that it was to do is missing. */
static bool recover_with_fault(unsigned int n, bool owner_lives)
{
	pid_t owner;
	bool failed;
	int r;

	world_new();
	owner = world_child();
	(void)owned_by(owner);
	if (!owner_lives)
		world_kill(owner);
	crash();
	(void)mkdirat(world->cgroups.fd, GONE, 0700);
	faults_set(n, EIO);
	r = recover();
	failed = faults.failed != NULL;
	if (r == 0) {
		if (world->by_slot[0] && world->by_slot[0]->state < EXECUTION_FINISHED)
			ending_owner_gone(world->by_slot[0]);
		if (!world_settle())
			fail_msg("not over after %s failed:\n%s", faults.failed, seen.said);
		assert_true(logs_count("execution-end", NULL) == 1 ||
			    strcmp(faults.failed, "logs_append") == 0);
		assert_int_equal(world->executions, 0);
		assert_int_equal(world_entries("state"), 0);
	} else {
		assert_true(failed);
		assert_int_equal(world->executions, 0);
		assert_int_equal(world->unfinished, 0);
	}
	(void)teardown(NULL);
	return failed;
}

static void test_faults(void **state)
{
	(void)state;
	for (int lives = 0; lives < 2; lives++) {
		unsigned int n = 1;

		while (recover_with_fault(n, lives))
			n++;
		assert_true(n > 8);
	}
}

int main(void)
{
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_nothing_there),
		ONE(test_resumed),
		ONE(test_two_resumed),
		ONE(test_deadline_goes_on),
		ONE(test_owner_is_dead),
		ONE(test_deadline_was_over),
		ONE(test_only_prepared),
		ONE(test_was_ending),
		ONE(test_policy_from_log),
		ONE(test_policy_lost),
		ONE(test_change_made),
		ONE(test_change_not_made),
		ONE(test_events_between),
		ONE(test_end_is_on_record),
		ONE(test_no_state_file),
		ONE(test_no_log),
		ONE(test_told_before),
		ONE(test_log_hangs),
		ONE(test_standing_ready),
		ONE(test_adopted),
		ONE(test_leftover_cgroup),
		ONE(test_cgroup_stays),
		ONE(test_lost),
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

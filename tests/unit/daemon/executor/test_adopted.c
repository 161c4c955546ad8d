/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of what the kernel made of an executor's child, from its first event on; what looks at
 * it answers when the test says so.
 */
#include "tests/unit/daemon/fake/world.h"

#include "daemon/execution/leftovers.h"
#include "daemon/execution/recovery.h"
#include "daemon/executor/executors_parts.h"
#include "tests/unit/daemon/fake/errands.h"

#include <sys/syscall.h>

/* --- look-ups below /proc/PID that find nothing --------------------------------------------- */

static int misses;

/* In the place of the C library's. */
int openat(int dir_fd, const char *path, int flags, ...)
{
	if (misses > 0 && strncmp(path, "/proc/", 6) == 0) {
		misses--;
		errno = ENOENT;
		return -1;
	}
	return (int)syscall(SYS_openat, dir_fd, path, flags, 0600);
}

/* --- an executor -------------------------------------------------------------------------- */

static const char *no_words[] = {NULL};
static const char *a_gate[] = {"/bin/true", NULL};
static struct config_executor is;
static struct executor_entry entry;
static struct executors executors;
static pid_t owner, leader;

static void take_entry(void)
{
	struct failure failure = {};
	char *message = NULL;

	assert_int_equal(
		policies_get(world->policies, "p", false, &entry.policy, &message, &failure), 0);
	executors = (struct executors){.daemon = world, .adoption = (struct adoption *)kernel};
	executors.entries[0] = &entry;
	world->executors = &executors;
}

static int setup(void **state)
{
	(void)state;
	world_new();
	is = (struct config_executor){
		.name = "autogen",
		.executable = "/usr/bin/python3",
		.policy = "p",
		.programs = no_words,
		.except = no_words,
		.workdir_under = no_words,
		.volumes = no_words,
		.binds = no_words,
		.gate = no_words,
		.agent = "writer",
		.session = "s-9",
		.hold = true,
	};
	entry = (struct executor_entry){.is = &is};
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		entry.directories[i] = -1;
	take_entry();
	owner = world_child();
	leader = world_child();
	return 0;
}

static void finish_all(void)
{
	faults_none();
	fake_logs->hold = false;
	kernel->death = FAKE_DIES;
	for (uint32_t slot = 0; slot < 4; slot++)
		if (world->by_slot[slot] && world->by_slot[slot]->state < EXECUTION_ENDING)
			ending_begin(world->by_slot[slot], AUDIT_END_KILLED);
	assert_true(world_settle());
	assert_null(errand);
	assert_null(gate);
}

static int teardown(void **state)
{
	(void)state;
	finish_all();
	world_check_empty(NULL);
	if (world->leftovers)
		leftovers_free(world->leftovers);
	if (entry.policy)
		policies_put(world->policies, entry.policy);
	world_end();
	return 0;
}

/* The kernel takes the child: its slot is held. */
static uint32_t take(void)
{
	struct enforcement_binding binding = {
		.executor = 1,
		.policy = entry.policy->ref,
		.owner_pid = (uint32_t)owner,
	};
	struct process_status status = {};
	struct stat st;
	uint32_t slot;

	(void)process_status(owner, &status);
	binding.owner_start = status.start_nsec;
	assert_int_equal(stat(world_path("work"), &st), 0);
	binding.anchors[CORDON_ANCHOR_WORKDIR].inode = st.st_ino;
	assert_int_equal(uuid_generate_v7(binding.id), 0);
	faults_none();
	assert_int_equal(enforcement_bind(kernel, &binding, &slot), 0);
	kernel->slots[slot].adopted = clock_nsec(CLOCK_BOOTTIME);
	kernel->slots[slot].leader = (uint32_t)leader;
	kernel->slots[slot].tasks = 1;
	kernel->slots[slot].state = CORDON_EXECUTION_HELD;
	return slot;
}

static void emit_adopt(uint32_t slot)
{
	const char *workdir = world_path("work");
	struct cordon_adopt_event event = {
		.workdir_length = (uint32_t)strlen(workdir),
		.program_length = 7,
	};
	char text[256];

	event.event.uid = geteuid();
	snprintf(text, sizeof(text), "%spython3", workdir);
	kernel_emit_text(slot, &event, sizeof(event), text, CORDON_EVENT_ADOPT);
}

static void emit_begin(uint32_t slot)
{
	struct cordon_adopt_event event = {};

	kernel->slots[slot].begun = CORDON_BEGUN | CORDON_BEGUN_HELD | CORDON_BEGUN_CLEAN;
	kernel_emit(slot, &event, sizeof(event), CORDON_EVENT_BEGIN);
}

static void emit_exec(uint32_t slot)
{
	const struct cordon_exec_event event = {.path_length = 8};

	kernel_emit_text(slot, &event, sizeof(event), "/bin/cat", CORDON_EVENT_EXEC);
}

static void emit_exit(uint32_t slot, int code)
{
	struct cordon_exit_event event = {.exit_code = code};

	event.event.tgid = (uint32_t)leader;
	kernel_emit(slot, &event, sizeof(event), CORDON_EVENT_EXIT);
}

static void drain(void)
{
	events_drain(world, EVENTS_ALL);
}

static void turns(void)
{
	for (int i = 0; i < 4; i++)
		world_turn();
}

/* Up to where it is being looked at. */
static struct execution *begun(void)
{
	uint32_t slot = take();

	emit_adopt(slot);
	emit_exec(slot);
	emit_begin(slot);
	drain();
	return world->by_slot[slot];
}

static void expect_not_refused(void)
{
	json_t *last = NULL;

	if (logs_count("execution-refused", &last) > 0)
		fail_msg("%s", json_string_value(
				       json_object_get(json_object_get(last, "error"), "message")));
}

static struct execution *running(void)
{
	struct execution *e = begun();

	errand_answers(0);
	expect_not_refused();
	turns();
	assert_int_equal(e->view->state, CORDON_EXECUTION_LIVE);
	return e;
}

static void expect_refused(struct execution *e, const char *why)
{
	json_t *last = NULL;
	char *text;

	assert_true(e->state >= EXECUTION_ENDING);
	assert_int_equal(kernel->continued, 0);
	assert_int_equal(logs_count("execution-refused", &last), 1);
	text = json_dumps(last, JSON_COMPACT);
	if (!strstr(text, why))
		fail_msg("%s does not say: %s", text, why);
	free(text);
}

/* --- the ordinary life -------------------------------------------------------------------- */

static void test_life(void **state)
{
	struct execution *e = begun();
	uint32_t slot = e->slot;

	(void)state;
	assert_true(e->adopted && e->adoption.begun);
	assert_int_equal(e->state, EXECUTION_LIVE);
	assert_string_equal(e->record.executor, "autogen");
	assert_string_equal(e->record.agent, "writer");
	assert_string_equal(e->record.session, "s-9");
	assert_string_equal(e->record.program, "python3");
	assert_string_equal(e->record.workdir, world_path("work"));
	/* Nothing is on record before it was looked at. */
	assert_int_equal(logs_count("execution-start", NULL), 0);
	errand_answers(0);
	expect_not_refused();
	assert_int_equal(kernel->continued, 0);
	turns();
	assert_int_equal(kernel->continued, 1);
	assert_true(e->started && e->written && e->adoption.fit && e->adoption.in_order);
	assert_int_equal(logs_count("execution-start", NULL), 1);
	/* The exec that brought its program in follows its start. */
	assert_int_equal(logs_count("process-exec", NULL), 1);
	assert_int_equal(world_entries("state"), 1);
	emit_exit(slot, 0);
	drain();
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "exited");
	assert_int_equal(logs_count("gap", NULL), 0);
}

static void emit_environment(uint32_t slot, const char *names, size_t size, uint32_t variables)
{
	const struct cordon_adopt_event event = {.program_length = (uint32_t)size,
						 .variables = variables};
	unsigned char told[sizeof(event) + 64];

	memcpy(told, &event, sizeof(event));
	memcpy(told + sizeof(event), names, size);
	kernel->slots[slot].variables = variables;
	kernel_emit(slot, told, sizeof(event) + size, CORDON_EVENT_ENVIRONMENT);
}

/* Its start, once the kernel has told of these names. */
static json_t *environment_of(const char *names, size_t size, uint32_t variables)
{
	uint32_t slot = take();
	json_t *start = NULL;

	emit_adopt(slot);
	emit_exec(slot);
	emit_environment(slot, names, size, variables);
	emit_begin(slot);
	drain();
	errand_answers(0);
	expect_not_refused();
	turns();
	assert_int_equal(logs_count("execution-start", &start), 1);
	emit_exit(slot, 0);
	drain();
	assert_true(world_settle());
	assert_int_equal(logs_count("gap", NULL), 0);
	return json_object_get(json_object_get(start, "cordon"), "environment");
}

static void expect_removed(const json_t *environment, const char *one, const char *two,
			   json_int_t unnamed)
{
	const json_t *removed = json_object_get(environment, "removed");

	assert_int_equal(json_array_size(removed), (one != NULL) + (two != NULL));
	if (one)
		assert_string_equal(json_string_value(json_array_get(removed, 0)), one);
	if (two)
		assert_string_equal(json_string_value(json_array_get(removed, 1)), two);
	assert_int_equal(json_integer_value(json_object_get(environment, "unnamed")), unnamed);
}

/* What the kernel has overwritten is on record by name, and what it had no room for by number. */
static void test_environment(void **state)
{
	static const char names[] = "SECRET\0TOKEN";

	(void)state;
	expect_removed(environment_of(names, sizeof(names), 5), "SECRET", "TOKEN", 3);
}

static void test_environment_cut_off(void **state)
{
	(void)state;
	/* Without its NUL a name might be any longer one. */
	expect_removed(environment_of("SECRET\0TOK", 10, 2), "SECRET", NULL, 1);
}

static void test_environment_not_told(void **state)
{
	(void)state;
	expect_removed(environment_of("", 0, 4), NULL, NULL, 4);
}

/* As where a thread's exec is about to make it the process. */
static void test_missed_for_a_moment(void **state)
{
	uint32_t slot = take();

	(void)state;
	misses = 1;
	emit_adopt(slot);
	drain();
	assert_int_equal(misses, 0);
	assert_int_equal(world->by_slot[slot]->state, EXECUTION_LIVE);
	emit_begin(slot);
	drain();
	errand_answers(0);
	expect_not_refused();
	turns();
	assert_int_equal(kernel->continued, 1);
}

static void test_missed_for_good(void **state)
{
	uint32_t slot = take();

	(void)state;
	misses = 1000;
	emit_adopt(slot);
	drain();
	misses = 0;
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "not-started");
}

static void test_leader_killed(void **state)
{
	(void)running();
	(void)state;
	world_kill(leader);
	assert_true(world_settle());
	/* No event has told how. */
	assert_string_equal(world_end_cause(), "exited");
	assert_false(seen.end.have_status);
}

static void test_owner_dies(void **state)
{
	(void)running();
	(void)state;
	world_kill(owner);
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "owner-gone");
}

/* A container's runtime goes when it has started it. */
static void test_container(void **state)
{
	struct execution *e;

	(void)state;
	is.kind = CONFIG_CONTAINER;
	is.agent_source = CONFIG_AGENT_CGROUP;
	e = begun();
	assert_null(e->owner.event);
	world_kill(owner);
	turns();
	assert_int_equal(e->state, EXECUTION_LIVE);
}

static void test_agent_of_environment(void **state)
{
	(void)state;
	is.agent_source = CONFIG_AGENT_VARIABLE;
	is.agent = "NO_SUCH_VARIABLE";
	assert_null(begun()->record.agent);
}

/* --- refusals ----------------------------------------------------------------------------- */

static void test_look_fails(void **state)
{
	struct execution *e = begun();

	(void)state;
	errand_answers(-ETIMEDOUT);
	expect_refused(e, "did not answer");
}

static void test_no_process_for_look(void **state)
{
	uint32_t slot = take();

	(void)state;
	emit_adopt(slot);
	emit_begin(slot);
	faults_set_for("errand_start", EAGAIN);
	drain();
	expect_refused(world->by_slot[slot], "no process");
}

static void test_elsewhere(void **state)
{
	struct execution *e = begun();

	(void)state;
	kernel->slots[e->slot].anchors[CORDON_ANCHOR_WORKDIR].inode++;
	errand_answers(0);
	expect_refused(e, "cannot be identified");
}

static void test_gate(void **state)
{
	struct execution *e;

	(void)state;
	is.gate = a_gate;
	e = begun();
	errand_answers(0);
	turns();
	assert_int_equal(kernel->continued, 0);
	gate_says(NULL);
	turns();
	assert_int_equal(kernel->continued, 1);
	assert_int_equal(e->state, EXECUTION_LIVE);
}

static void test_gate_refuses(void **state)
{
	struct execution *e;

	(void)state;
	is.gate = a_gate;
	e = begun();
	errand_answers(0);
	gate_says("not today");
	expect_refused(e, "not today");
}

static void test_gate_too_late(void **state)
{
	struct execution *e;

	(void)state;
	is.gate = a_gate;
	e = begun();
	errand_answers(0);
	kernel->death = FAKE_STUBBORN;
	ending_begin(e, AUDIT_END_KILLED);
	gate_says(NULL);
	turns();
	assert_int_equal(kernel->continued, 0);
}

static void test_no_gate(void **state)
{
	struct execution *e;

	(void)state;
	is.gate = a_gate;
	e = begun();
	faults_set_for("gate_start", EAGAIN);
	errand_answers(0);
	expect_refused(e, "no gate");
}

static void test_start_cannot_be_written(void **state)
{
	struct execution *e = begun();

	(void)state;
	fake_logs->written = -ENOSPC;
	errand_answers(0);
	assert_int_equal(e->state, EXECUTION_LIVE);
	turns();
	assert_int_equal(kernel->continued, 0);
	assert_int_equal(logs_count("execution-refused", NULL), 1);
	fake_logs->written = 0;
}

/* The log's writer is started again meanwhile: the child is held until there is one. */
static void test_waits_for_writer(void **state)
{
	struct execution *e = begun();

	(void)state;
	fake_logs->restarts = true;
	errand_answers(0);
	assert_false(e->started);
	assert_int_equal(kernel->continued, 0);
	turns();
	assert_true(e->started);
	assert_int_equal(logs_count("execution-start", NULL), 1);
	assert_int_equal(kernel->continued, 1);
}

static void test_waits_for_writer_in_vain(void **state)
{
	struct execution *e = begun();

	(void)state;
	fake_logs->restarts = true;
	fake_logs->writable = -ENOSPC;
	errand_answers(0);
	assert_int_equal(e->state, EXECUTION_LIVE);
	turns();
	assert_int_equal(kernel->continued, 0);
	assert_int_equal(logs_count("execution-refused", NULL), 1);
	assert_int_equal(logs_count("execution-start", NULL), 0);
}

/* What ends while it waits was an execution: that is on record. */
static void test_ends_while_it_waits(void **state)
{
	struct execution *e = begun();

	(void)state;
	fake_logs->restarts = fake_logs->hold = true;
	errand_answers(0);
	assert_non_null(e->writing);
	kernel->death = FAKE_STUBBORN;
	ending_begin(e, AUDIT_END_KILLED);
	fake_logs->hold = false;
	turns();
	assert_int_equal(kernel->continued, 0);
	assert_int_equal(logs_count("execution-start", NULL), 1);
}

/* Unless the host's owner has said that it may go on. */
static void test_start_may_be_missing(void **state)
{
	struct execution *e = begun();

	(void)state;
	fake_logs->written = -ENOSPC;
	fake_logs->lenient = true;
	errand_answers(0);
	turns();
	assert_int_equal(kernel->continued, 1);
	assert_false(e->written);
	fake_logs->written = 0;
}

static void test_no_state(void **state)
{
	struct execution *e = begun();
	int fd = world->state_fd;

	(void)state;
	world->state_fd = -1;
	errand_answers(0);
	world->state_fd = fd;
	assert_true(e->state >= EXECUTION_ENDING);
	assert_int_equal(kernel->continued, 0);
}

/* It dies while it is looked at. */
static void test_dies_meanwhile(void **state)
{
	struct execution *e = begun();

	(void)state;
	world_kill(leader);
	errand_answers(0);
	turns();
	assert_int_equal(kernel->continued, 0);
	/* There is nothing to refuse: it is on record that it ran, and how it ended. */
	assert_int_equal(logs_count("execution-refused", NULL), 0);
	assert_true(world->by_slot[0] == NULL || e->state >= EXECUTION_ENDING);
	assert_true(world_settle());
	assert_int_equal(logs_count("execution-end", NULL), 1);
}

/* One that is not held may be over before it was looked at: then that is its end. */
static void test_runs_unlooked(void **state)
{
	struct execution *e = begun();

	(void)state;
	kernel->slots[e->slot].state = CORDON_EXECUTION_LIVE;
	emit_exec(e->slot);
	drain();
	assert_int_equal(logs_count("process-exec", NULL), 0);
	world_kill(leader);
	turns();
	assert_true(e->adoption.left);
	assert_int_equal(e->state, EXECUTION_LIVE);
	errand_answers(0);
	assert_true(world_settle());
	assert_int_equal(logs_count("execution-start", NULL), 1);
	assert_int_equal(logs_count("process-exec", NULL), 2);
	assert_int_equal(logs_count("execution-end", NULL), 1);
}

/* Its process is over: how it ended stands behind more events than a turn of the loop may take. */
static void test_ends_behind_much(void **state)
{
	struct execution *e = running();
	json_t *end = NULL;

	(void)state;
	for (unsigned int i = 0; i < RECORDS_AT_A_TIME + 1; i++)
		emit_exec(e->slot);
	emit_exit(e->slot, 3 << 8);
	world_kill(leader);
	assert_true(world_settle());
	assert_int_equal(logs_count("execution-end", &end), 1);
	end = json_object_get(json_object_get(end, "cordon"), "end");
	assert_int_equal(json_integer_value(json_object_get(end, "exit_code")), 3);
	assert_int_equal(logs_count("process-exec", NULL), RECORDS_AT_A_TIME + 2);
	assert_int_equal(logs_count("gap", NULL), 0);
}

/*
 * It did more than can be kept: its start is written before it is known what it is, and it is
 * ended.
 */
static void test_does_too_much(void **state)
{
	struct execution *e = begun();

	(void)state;
	kernel->slots[e->slot].state = CORDON_EXECUTION_LIVE;
	for (int i = 0; i < 1200 && !e->started; i++) {
		emit_exec(e->slot);
		drain();
	}
	assert_true(e->started && e->adoption.unlooked);
	errand_answers(0);
	assert_int_equal(e->state >= EXECUTION_ENDING, 1);
}

static void test_too_many(void **state)
{
	struct execution *e;

	(void)state;
	e = begun();
	assert_null(e->adoption.account); /* root's */
	errand_answers(0);
}

/* --- refusals of the kernel, and what is none of ours ------------------------------------- */

static void refused(uint32_t reason, const char *text)
{
	struct cordon_adopt_event event = {
		.reason = reason,
		.workdir_length = (uint32_t)strlen(text),
	};
	unsigned char whole[512] = {};

	event.event.type = CORDON_EVENT_REFUSED;
	event.event.size = (uint32_t)(sizeof(event) + strlen(text));
	event.event.slot = 0xffffffff;
	memcpy(whole, &event, sizeof(event));
	memcpy(whole + sizeof(event), text, strlen(text));
	events_handle(whole, event.event.size, world);
}

static void test_refused_by_kernel(void **state)
{
	json_t *last = NULL;
	char *text;

	(void)state;
	for (uint32_t reason = 0; reason <= CORDON_ADOPT_REASON_COUNT; reason++)
		refused(reason, "/srv");
	assert_int_equal(logs_count("execution-refused", &last), CORDON_ADOPT_REASON_COUNT + 1);
	entry.waits = true;
	refused(CORDON_ADOPT_EXHAUSTED, "");
	assert_int_equal(logs_count("execution-refused", &last), CORDON_ADOPT_REASON_COUNT + 2);
	text = json_dumps(last, JSON_COMPACT);
	assert_non_null(strstr(text, "waits for approval"));
	free(text);
	assert_int_equal(world->strays, 0);
}

static void test_malformed_refusal(void **state)
{
	struct cordon_event event = {.type = CORDON_EVENT_REFUSED, .slot = 0xffffffff};

	(void)state;
	events_handle(&event, sizeof(event), world);
	assert_int_equal(logs_count("execution-refused", NULL), 0);
	assert_int_equal(world->strays, 1);
}

static void test_not_adopted(void **state)
{
	struct cordon_event event = {.type = CORDON_EVENT_EXEC, .slot = 3};

	(void)state;
	events_handle(&event, sizeof(event), world);
	assert_int_equal(world->strays, 1);
	assert_null(world->by_slot[3]);
}

/* --- what events did not tell ------------------------------------------------------------- */

static void test_scan(void **state)
{
	uint32_t slot = take();
	struct execution *e;

	(void)state;
	adopted_scan(world);
	e = world->by_slot[slot];
	assert_non_null(e);
	assert_false(e->adoption.begun);
	assert_string_equal(e->record.program, "unknown");
	/* Its program is in place, which the process itself shows. */
	kernel->slots[slot].begun = CORDON_BEGUN_DECIDED;
	adopted_scan(world);
	kernel->slots[slot].begun = CORDON_BEGUN | CORDON_BEGUN_CLEAN;
	adopted_scan(world);
	assert_true(e->adoption.begun);
	adopted_scan(world);
	world->executors = NULL;
	adopted_scan(world);
	world->executors = &executors;
}

/* Its entry is gone: it is refused under what the kernel says of its policy. */
static void test_entry_gone(void **state)
{
	uint32_t slot = take();
	struct execution *e;

	(void)state;
	executors.entries[0] = NULL;
	adopted_scan(world);
	e = world->by_slot[slot];
	expect_refused(e, "is gone");
	assert_string_equal(e->record.executor, "unknown");
	assert_true(world_settle());
	executors.entries[0] = &entry;
}

static void test_leader_was_gone(void **state)
{
	uint32_t slot;

	(void)state;
	world_kill(leader);
	slot = take();
	adopted_scan(world);
	assert_true(world->by_slot[slot] == NULL ||
		    world->by_slot[slot]->state >= EXECUTION_ENDING);
}

/* --- the next daemon ---------------------------------------------------------------------- */

static struct execution *after_crash(void)
{
	struct failure failure = {};

	world_crash();
	world_start();
	world->origin = ENFORCEMENT_RECOVERED;
	assert_int_equal(recovery_run(world, &failure), 0);
	/* Its log and its policy are read. */
	while (errand)
		errand_answers(0);
	assert_null(world->recovery);
	take_entry();
	return world->by_slot[0];
}

static void test_goes_on(void **state)
{
	struct execution *e = running();

	(void)state;
	policies_put(world->policies, entry.policy);
	e = after_crash();
	assert_true(e->adopted && e->adoption.in_order);
	adopted_resume(e);
	assert_int_equal(e->state, EXECUTION_LIVE);
	emit_exit(e->slot, SIGSEGV);
	drain();
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "signaled");
}

/* The daemon died while it was looked at: it is looked at again. */
static void test_looked_at_again(void **state)
{
	struct execution *e = begun();

	(void)state;
	/* On record, but not yet found to be in order. */
	adopted_calls.need_start(e);
	assert_true(e->started);
	policies_put(world->policies, entry.policy);
	e = after_crash();
	assert_non_null(e);
	assert_false(e->adoption.begun);
	adopted_resume(e);
	assert_true(e->adoption.begun);
	errand_answers(0);
	turns();
	assert_int_equal(e->view->state, CORDON_EXECUTION_LIVE);
}

/* An embedded daemon cannot look. */
static void test_embedded(void **state)
{
	struct execution *e = begun();

	(void)state;
	adopted_calls.need_start(e);
	policies_put(world->policies, entry.policy);
	e = after_crash();
	world->executors = NULL;
	adopted_resume(e);
	assert_true(e->state >= EXECUTION_ENDING);
	assert_true(world_settle());
	world->executors = &executors;
}

/* --- each call that can fail -------------------------------------------------------------- */

static bool live_with_fault(unsigned int n)
{
	struct execution *e;
	bool failed;
	uint32_t slot;

	(void)setup(NULL);
	is.gate = a_gate;
	slot = take();
	faults_set(n, EIO);
	emit_adopt(slot);
	emit_exec(slot);
	emit_begin(slot);
	drain();
	/* What events did not bring, the next look does. */
	adopted_scan(world);
	drain();
	if (errand)
		errand_answers(0);
	if (gate)
		gate_says(NULL);
	turns();
	e = world->by_slot[slot];
	/* It runs with its start on record, or it does not run. */
	if (kernel->continued)
		assert_true(e->started && logs_count("execution-start", NULL) == 1);
	else
		assert_true(faults.failed != NULL);
	if (e && e->state < EXECUTION_ENDING) {
		emit_exit(slot, 0);
		drain();
		drain();
	}
	if (!world_settle())
		fail_msg("not over after %s failed:\n%s", faults.failed, seen.said);
	failed = faults.failed != NULL;
	assert_null(errand);
	assert_null(gate);
	world_check_empty(faults.failed);
	policies_put(world->policies, entry.policy);
	world_end();
	return failed;
}

static void test_faults(void **state)
{
	unsigned int n = 1;

	(void)state;
	while (live_with_fault(n))
		n++;
	assert_true(n > 12);
}

int main(void)
{
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_life),
		ONE(test_environment),
		ONE(test_environment_cut_off),
		ONE(test_environment_not_told),
		ONE(test_missed_for_a_moment),
		ONE(test_missed_for_good),
		ONE(test_leader_killed),
		ONE(test_owner_dies),
		ONE(test_container),
		ONE(test_agent_of_environment),
		ONE(test_look_fails),
		ONE(test_no_process_for_look),
		ONE(test_elsewhere),
		ONE(test_gate),
		ONE(test_gate_refuses),
		ONE(test_gate_too_late),
		ONE(test_no_gate),
		ONE(test_start_cannot_be_written),
		ONE(test_waits_for_writer),
		ONE(test_waits_for_writer_in_vain),
		ONE(test_ends_while_it_waits),
		ONE(test_start_may_be_missing),
		ONE(test_no_state),
		ONE(test_dies_meanwhile),
		ONE(test_runs_unlooked),
		ONE(test_ends_behind_much),
		ONE(test_does_too_much),
		ONE(test_too_many),
		ONE(test_refused_by_kernel),
		ONE(test_malformed_refusal),
		ONE(test_not_adopted),
		ONE(test_scan),
		ONE(test_entry_gone),
		ONE(test_leader_was_gone),
		ONE(test_goes_on),
		ONE(test_looked_at_again),
		ONE(test_embedded),
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

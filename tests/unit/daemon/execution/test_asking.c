/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a call that waits to its answer: who is asked, what it is refused for, and that nobody is
 * left waiting.
 */
#include "tests/unit/daemon/fake/errands.h"

#include <signal.h>

#include "daemon/execution/asking.h"
#include "daemon/execution/proposal.h"
#include "daemon/policy/approvals.h"

#define KEY 0x1234567890abcdefull

static struct execution *e;
static pid_t waiter;

static const char policy[] =
	"version: 1\nname: asks\nask: 30s\nfiles:\n"
	"  - {allow: [read, write, create, delete], paths: [\"${workdir}/**\", \"${tmp}/**\"]}\n";

/* A process that is stopped, as one that waits is. */
static pid_t stopped(void)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

/* It goes on, and ends. */
static bool has_gone_on(void)
{
	bool ended = waitpid(waiter, NULL, 0) == waiter;

	waiter = 0;
	return ended;
}

static bool still_waits(void)
{
	struct process_status status;

	return process_status(waiter, &status) == 0 && status.state == 'T';
}

static int set_up(void **state)
{
	struct failure failure = {};

	(void)state;
	world_new();
	world_write("policies/asks.yaml", policy);
	e = world_prepare_as(getpid(), "asks", false);
	/* As one that began before anybody had to approve policies. */
	assert_int_equal(approvals_open(seen.directory, &world->approvals, &failure), 0);
	assert_int_equal(world_try_label(e, 4194000), 0);
	asking_start(e);
	waiter = stopped();
	kernel->label_pid = waiter;
	kernel->label_slot = e->slot;
	return 0;
}

static int tear_down(void **state)
{
	int r = 0;

	(void)state;
	if (waiter > 0) {
		kill(waiter, SIGKILL);
		waitpid(waiter, NULL, 0);
	}
	if (world->by_slot[0] == e && e->state < EXECUTION_ENDING)
		ending_owner_gone(e);
	if (!world_settle())
		r = -1;
	approvals_free(TAKE_PTR(world->approvals));
	world_end();
	return r;
}

/* `age`: how long it has waited by now, ns. */
static void emit_of(uint32_t operation, uint16_t kind, const char *object, uint64_t age)
{
	struct cordon_denial_event event = {
		.event.tgid = (uint32_t)waiter,
		.event.time = clock_nsec(CLOCK_BOOTTIME) - age,
		.event.sequence = KEY,
		.operation = operation,
		.object_kind = kind,
		.rights = CORDON_RIGHT(CORDON_RUN) | CORDON_RIGHT(CORDON_MAP),
		.error = -EACCES,
		.rule = CORDON_NO_RULE,
		.object_length = (uint32_t)strlen(object),
		.object_total = (uint32_t)strlen(object),
	};

	kernel_emit_text(e->slot, &event, sizeof(event), object, CORDON_EVENT_WAITS);
	events_drain(world, EVENTS_ALL);
}

static void emit(void)
{
	emit_of(CORDON_OP_EXEC, CORDON_OBJECT_PATH, "/opt/tool", 0);
}

static size_t inbox(void)
{
	size_t next;
	json_t *list = approvals_list(world->approvals, 0, 1 << 20, &next);
	size_t count = json_array_size(list);

	json_decref(list);
	return count;
}

static void test_possible(void **state)
{
	(void)state;
	assert_true(asking_is_possible(e));
	assert_int_equal(e->view->asks_left, CORDON_ASKS_EACH);
	e->record.observe = true;
	assert_false(asking_is_possible(e));
	e->record.observe = false;
	world->approvals_idle = true;
	assert_false(asking_is_possible(e));
	asking_policy_changed(e);
	assert_int_equal(e->view->asks_left, 0);
	world->approvals_idle = false;
}

static void test_asked(void **state)
{
	(void)state;
	emit();
	/* Each process is told of, and each time. */
	emit();
	assert_non_null(errand);
	assert_int_equal(inbox(), 0);
	errand_answers(0);
	assert_int_equal(inbox(), 1);
	assert_int_equal(logs_count("agent-proposal", NULL), 1);
	assert_true(still_waits());
	assert_int_equal(logs_count("denial", NULL), 0);
	asking_policy_changed(e);
	assert_int_equal(kernel->refused_question, 0);
	assert_true(has_gone_on());
	assert_null(e->questions);
	assert_int_equal(inbox(), 0);
	events_settle(e, e->view->sequence);
	assert_int_equal(logs_count("gap", NULL), 0);
}

/* The digest of the first entry in the list of approvals. */
static void first_listed(char ret_digest[SHA256_TEXT_SIZE])
{
	size_t next;
	json_t *list = approvals_list(world->approvals, 0, 1 << 20, &next);

	snprintf(ret_digest, SHA256_TEXT_SIZE, "%s",
		 json_string_value(json_object_get(json_array_get(list, 0), "digest")));
	json_decref(list);
}

/* Another question was approved: whoever has the list can still decide about this one. */
static void test_amended(void **state)
{
	char digest[SHA256_TEXT_SIZE], found[SHA256_TEXT_SIZE], listed[SHA256_TEXT_SIZE];

	(void)state;
	emit();
	errand_answers(0);
	first_listed(digest);
	assert_int_equal(asking_find_renewed(world, digest, found), -ENOENT);
	asking_policy_amended(e);
	assert_int_equal(kernel->refused_question, 0);
	assert_true(has_gone_on());
	assert_int_equal(inbox(), 0);
	assert_int_equal(asking_find_renewed(world, digest, found), -EAGAIN);
	/* The call is made again. */
	waiter = stopped();
	kernel->label_pid = waiter;
	emit();
	assert_int_equal(asking_find_renewed(world, digest, found), -EAGAIN);
	errand_answers(0);
	assert_int_equal(inbox(), 1);
	digest[12] = '\0';
	assert_int_equal(asking_find_renewed(world, digest, found), 0);
	first_listed(listed);
	assert_string_equal(found, listed);
	assert_int_equal(asking_find_renewed(world, "another", found), -ENOENT);
	/* Another policy altogether: what was seen says nothing. */
	asking_policy_changed(e);
	assert_true(has_gone_on());
	assert_int_equal(asking_find_renewed(world, digest, found), -ENOENT);
}

static void test_not_granted(void **state)
{
	char digest[SHA256_TEXT_SIZE];

	(void)state;
	emit();
	errand_answers(0);
	first_listed(digest);
	asking_not_granted(world, "another");
	assert_true(still_waits());
	asking_not_granted(world, digest);
	assert_true(kernel->refused_question == KEY);
	assert_true(has_gone_on());
	/* Nobody is asked again for one that began to wait meanwhile. */
	waiter = stopped();
	kernel->label_pid = waiter;
	emit();
	assert_null(e->questions);
	assert_null(errand);
	assert_true(has_gone_on());
}

static void test_overdue(void **state)
{
	(void)state;
	emit_of(CORDON_OP_EXEC, CORDON_OBJECT_PATH, "/opt/tool", 30 * NSEC_PER_SEC - NSEC_PER_MSEC);
	if (e->questions)
		errand_answers(0);
	for (int i = 0; i < 500 && e->questions; i++) {
		usleep(10000);
		world_turn();
	}
	assert_true(kernel->refused_question == KEY);
	assert_true(has_gone_on());
	assert_int_equal(inbox(), 0);
	/* And where nobody was there for so long. */
	kernel->refused_question = 0;
	waiter = stopped();
	kernel->label_pid = waiter;
	emit_of(CORDON_OP_EXEC, CORDON_OBJECT_PATH, "/opt/tool", 40 * NSEC_PER_SEC);
	assert_null(errand);
	assert_true(kernel->refused_question == KEY);
	assert_true(has_gone_on());
}

/* What comes to nothing is refused, whatever it is. */
static void test_nothing_to_ask(void **state)
{
	(void)state;
	emit_of(CORDON_OP_EXEC, CORDON_OBJECT_NUMBER, "12345678", 0);
	assert_true(kernel->refused_question == KEY);
	assert_true(has_gone_on());
	assert_null(errand);
}

static void test_no_comparison(void **state)
{
	(void)state;
	emit();
	errand_answers(-ETIMEDOUT);
	assert_true(kernel->refused_question == KEY);
	assert_true(has_gone_on());
	assert_int_equal(inbox(), 0);
	assert_non_null(strstr(seen.said, "a call that waited is denied"));
}

static void test_no_process(void **state)
{
	(void)state;
	faults_set_for("errand_start", EAGAIN);
	emit();
	assert_true(kernel->refused_question == KEY);
	assert_true(has_gone_on());
}

/* Nobody goes on, and nothing is asked for any more. */
static void test_ended(void **state)
{
	(void)state;
	emit();
	errand_answers(0);
	assert_int_equal(inbox(), 1);
	ending_begin(e, AUDIT_END_KILLED);
	assert_int_equal(inbox(), 0);
	assert_true(still_waits());
	assert_int_equal(kernel->refused_question, 0);
	emit();
	assert_null(errand);
}

/* The number is another process's by now. */
static void test_another_process(void **state)
{
	(void)state;
	emit();
	errand_answers(0);
	kernel->label_slot = e->slot + 1;
	asking_policy_changed(e);
	assert_true(still_waits());
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_possible),	    TEST(test_asked),	   TEST(test_amended),
		TEST(test_not_granted),	    TEST(test_overdue),	   TEST(test_nothing_to_ask),
		TEST(test_no_comparison),   TEST(test_no_process), TEST(test_ended),
		TEST(test_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What is compiled, compared and reloaded beside the loop, for requests that wait for it. */
#include "tests/unit/daemon/server/ahead_fixture.h"

#include <sys/stat.h>
#include <sys/syscall.h>

/*
 * Two ask for what takes long to compile: it is compiled once, beside the loop, and is there for
 * both.
 */
static void test_compiled(void **state)
{
	const char *const none[] = {NULL};
	const struct policy_use *resumed = NULL, *use;
	struct compiled_policy *compiled = NULL;
	struct connection first, second;
	uint64_t begin, whole;
	int clients[2];

	(void)state;
	write_policies();
	assert_int_equal(policies_new(NULL, none, -1, &of->policies), 0);
	begin = clock_nsec(CLOCK_THREAD_CPUTIME_ID);
	assert_int_equal(policies_compile(of->policies, big, false, &compiled), 0);
	whole = clock_nsec(CLOCK_THREAD_CPUTIME_ID) - begin;
	/*
	 * In the kernel already, so that this is not asked for anything: only what it was compiled
	 * from is not known.
	 */
	assert_int_equal(policies_resume(of->policies, compiled, REF, &resumed), 0);
	connect_root(&first, &clients[0]);
	connect_root(&second, &clients[1]);
	begin = clock_nsec(CLOCK_THREAD_CPUTIME_ID);
	assert_int_equal(ask_for(&first, big), 1);
	assert_int_equal(ask_for(&second, big), 1);
	assert_true(clock_nsec(CLOCK_THREAD_CPUTIME_ID) - begin < whole / 4);
	while (first.ahead || second.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_int_equal(told, 2);
	assert_int_equal(dispatched, 2);
	use = policies_find(of->policies, big, false);
	assert_ptr_equal(use, resumed);
	policies_put(of->policies, use);
	assert_int_equal(ask_for(&first, big), 0);
	close_both(&first, clients[0]);
	close_both(&second, clients[1]);
	policies_free(of->policies);
	of->policies = NULL;
	remove_policies();
}

/* Of the file system of a log, in place of the C library's. */
int mkdirat(int fd, const char *name, mode_t mode)
{
	if (database)
		hang();
	return (int)syscall(SYS_mkdirat, fd, name, mode);
}

/* It is beside the log before anything is dispatched, and the loop has not put it there. */
static void test_kept(void **state)
{
	const char *const none[] = {NULL};
	const struct policy_use *resumed[2];
	struct compiled_policy *compiled[2];
	char name[160], other[80];
	struct connection c;
	int client;
	FILE *f;

	(void)state;
	write_policies();
	snprintf(other, sizeof(other), "%s/other.yaml", place);
	f = fopen(other, "we");
	assert_non_null(f);
	fputs("version: 1\nname: other\nfiles:\n  - {allow: [read], paths: [/srv/other]}\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(policies_new(NULL, none, -1, &of->policies), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(
			policies_compile(of->policies, i ? other : big, false, &compiled[i]), 0);
		assert_int_equal(policies_resume(of->policies, compiled[i], REF + i, &resumed[i]),
				 0);
		assert_false(logs_has_policy(of->log, compiled[i]));
	}
	snprintf(name, sizeof(name), "%s/policies/%s", log_directory, compiled[0]->digest_text);
	connect_root(&c, &client);
	assert_int_equal(ask_for(&c, big), 1);
	turn_until_ready(&c);
	assert_int_equal(dispatched, 1);
	assert_int_equal(faccessat(AT_FDCWD, name, F_OK, 0), 0);
	assert_true(logs_has_policy(of->log, compiled[0]));
	/* Then it is known. */
	assert_int_equal(ask_for(&c, big), 0);

	/* Only the request waits for a file system that does not answer. */
	database->hangs = true;
	database->hanging = 0;
	assert_int_equal(ask_for(&c, other), 1);
	while (database->hanging == 0) {
		assert_int_equal(event_base_loop(of->base, EVLOOP_NONBLOCK), 0);
		usleep(10000);
	}
	assert_loop_is_free();
	assert_int_equal(dispatched, 1);
	ahead_cancel(&c);
	database->hangs = false;
	close_both(&c, client);
	policies_free(of->policies);
	of->policies = NULL;
	assert_int_equal(unlink(other), 0);
	remove_policies();
}

/* Whoever has it compiled leaves: who waits for it has it compiled instead. */
static void test_left_while_compiled(void **state)
{
	const char *const none[] = {NULL};
	const struct policy_use *resumed = NULL;
	struct compiled_policy *compiled = NULL;
	struct connection first, second;
	int clients[2];

	(void)state;
	write_policies();
	assert_int_equal(policies_new(NULL, none, -1, &of->policies), 0);
	assert_int_equal(policies_compile(of->policies, big, false, &compiled), 0);
	assert_int_equal(policies_resume(of->policies, compiled, REF, &resumed), 0);
	connect_root(&first, &clients[0]);
	connect_root(&second, &clients[1]);
	assert_int_equal(ask_for(&first, big), 1);
	assert_int_equal(ask_for(&second, big), 1);
	ahead_cancel(&first);
	while (second.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_int_equal(told, 1);
	assert_int_equal(dispatched, 1);
	close_both(&first, clients[0]);
	close_both(&second, clients[1]);
	policies_free(of->policies);
	of->policies = NULL;
	remove_policies();
}

static void test_bad_policy(void **state)
{
	const char *const none[] = {NULL};
	struct connection c;
	char answer[2048] = "";
	int client;

	(void)state;
	write_policies();
	assert_int_equal(policies_new(NULL, none, -1, &of->policies), 0);
	connect_root(&c, &client);
	assert_int_equal(ask_for(&c, bad), 1);
	turn_until_ready(&c);
	assert_int_equal(told, 1);
	assert_int_equal(dispatched, 0);
	assert_true(recv(client, answer, sizeof(answer) - 1, MSG_DONTWAIT) > 0);
	assert_non_null(strstr(answer, "EINVAL"));
	assert_non_null(strstr(answer, "bad.yaml:3:1"));
	close_both(&c, client);
	policies_free(of->policies);
	of->policies = NULL;
	remove_policies();
}

static int record_nothing(void *context, const struct audit_approval *approval)
{
	(void)context;
	(void)approval;
	return 0;
}

static void approve_smaller(void)
{
	static const char text[] =
		"version: 1\nname: big\nfiles:\n  - {allow: [read], paths: [/srv/0/a.txt]}\n";
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	struct approval_decision decision = {.decision = AUDIT_APPROVAL_GRANTED,
					     .reason = "because"};
	struct failure failure = {};
	json_t *entry = NULL;

	assert_int_equal(policy_compile_text(text, strlen(text), "/big.yaml", NULL, d, &policy), 0);
	decision.ahead = policy;
	assert_int_equal(approvals_decide(of->approvals, &decision, clock_nsec(CLOCK_REALTIME),
					  record_nothing, NULL, &entry, &failure),
			 0);
	json_decref(entry);
}

static void open_approvals(char *directory)
{
	struct failure failure = {};

	assert_non_null(mkdtemp(directory));
	assert_int_equal(approvals_open(directory, &of->approvals, &failure), 0);
	approve_smaller();
}

static void remove_approvals(const char *directory)
{
	char command[64];

	approvals_free(of->approvals);
	of->approvals = NULL;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	assert_int_equal(system(command), 0);
}

static bool must_be_compared(const struct policy_use *use)
{
	return approvals_must_compare(of->approvals, use->policy, NULL, clock_nsec(CLOCK_REALTIME));
}

/*
 * What executions are put under is compiled, and compared with what is approved, beside the loop in
 * the forms that they need.
 */
static void test_applied(void **state)
{
	const char *const none[] = {NULL};
	const struct policy_use *resumed[2] = {}, *use;
	struct execution executions[2] = {};
	json_t *message = json_pack("{s:s,s:s,s:s}", "op", "apply", "policy", big, "all_of", "big");
	struct protocol_fds fds = {};
	struct failure failure = {};
	char directory[] = "/tmp/cordon-ahead-state-XXXXXX";
	struct connection c;
	int client;

	(void)state;
	write_policies();
	json_object_set_new(message, "policy", json_string(big));
	assert_int_equal(policies_new(NULL, none, -1, &of->policies), 0);
	for (int observe = 0; observe < 2; observe++) {
		struct compiled_policy *compiled = NULL;
		struct execution *e = &executions[observe];

		assert_int_equal(policies_compile(of->policies, big, observe, &compiled), 0);
		assert_int_equal(policies_resume(of->policies, compiled, REF + (uint64_t)observe,
						 &resumed[observe]),
				 0);
		*e = (struct execution){.policy = resumed[observe], .state = EXECUTION_LIVE};
		e->request = json_pack("{s:b}", "observe", observe);
		of->by_slot[observe] = e;
	}
	open_approvals(directory);
	assert_true(must_be_compared(resumed[0]) && must_be_compared(resumed[1]));
	connect_root(&c, &client);
	assert_int_equal(ahead_start(&c, &message, &fds, on_policy, &failure), 1);
	turn_until_ready(&c);
	assert_int_equal(dispatched, 1);
	assert_false(must_be_compared(resumed[0]) || must_be_compared(resumed[1]));
	remove_approvals(directory);
	for (int observe = 0; observe < 2; observe++) {
		use = policies_find(of->policies, big, observe);
		assert_ptr_equal(use, resumed[observe]);
		policies_put(of->policies, use);
		json_decref(executions[observe].request);
		of->by_slot[observe] = NULL;
	}
	close_both(&c, client);
	policies_free(of->policies);
	of->policies = NULL;
	remove_policies();
}

static char said[2048];

static void say(const char *line)
{
	snprintf(said, sizeof(said), "%s", line);
}

static void write_config(const char *path, const char *first, const char *second)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fprintf(f,
		"version: 1\nexecutors:\n"
		"  - {name: one, match: {executable: /usr/bin/true}, policy: %s, workdir_under: [/srv]}\n"
		"  - {name: two, match: {executable: /usr/bin/true}, policy: %s, workdir_under: [/srv]}\n",
		first, second);
	assert_int_equal(fclose(f), 0);
}

static int ask_to_reload(struct connection *c)
{
	json_t *message = json_pack("{s:s}", "op", "reload");
	struct protocol_fds fds = {};
	struct failure failure = {};
	int r = ahead_start(c, &message, &fds, on_policy, &failure);

	json_decref(message);
	return r;
}

/*
 * What cordon.yaml names, likewise; one that is wrong is refused as the whole file is, whoever
 * wants it loaded.
 */
static void test_reloaded(void **state)
{
	const char *const none[] = {NULL};
	const struct policy_use *resumed = NULL, *use;
	struct compiled_policy *compiled = NULL;
	char config[80], answer[2048] = "";
	struct executors x = {.daemon = of, .path = config};
	struct connection c;
	int client;

	(void)state;
	write_policies();
	snprintf(config, sizeof(config), "%s/cordon.yaml", place);
	assert_int_equal(policies_new(NULL, none, -1, &of->policies), 0);
	assert_int_equal(policies_compile(of->policies, big, false, &compiled), 0);
	assert_int_equal(policies_resume(of->policies, compiled, REF, &resumed), 0);
	of->executors = &x;
	of->say = say;
	connect_root(&c, &client);

	write_config(config, big, big);
	assert_int_equal(ask_to_reload(&c), 1);
	turn_until_ready(&c);
	assert_int_equal(dispatched, 1);
	use = policies_find(of->policies, big, false);
	assert_ptr_equal(use, resumed);
	policies_put(of->policies, use);

	write_config(config, big, bad);
	assert_int_equal(ask_to_reload(&c), 1);
	turn_until_ready(&c);
	assert_int_equal(told, 2);
	assert_int_equal(dispatched, 1);
	assert_true(recv(client, answer, sizeof(answer) - 1, MSG_DONTWAIT) > 0);
	assert_non_null(strstr(answer, "bad.yaml:3:1"));

	/* Twice: the second takes the place of the first. */
	executors_reload(&x);
	assert_non_null(x.reading);
	executors_reload(&x);
	while (x.reading)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_non_null(strstr(said, "bad.yaml:3:1"));

	of->executors = NULL;
	of->say = NULL;
	close_both(&c, client);
	policies_free(of->policies);
	of->policies = NULL;
	assert_int_equal(unlink(config), 0);
	remove_policies();
}

/*
 * What is to be compared with what is approved of its name is compared beside the loop, and then
 * known.
 */
static void test_compared(void **state)
{
	const char *const none[] = {NULL};
	const struct policy_use *resumed = NULL;
	struct compiled_policy *compiled = NULL;
	char directory[] = "/tmp/cordon-ahead-state-XXXXXX";
	struct connection c;
	int client;

	(void)state;
	write_policies();
	open_approvals(directory);
	assert_int_equal(policies_new(NULL, none, -1, &of->policies), 0);
	assert_int_equal(policies_compile(of->policies, big, false, &compiled), 0);
	assert_int_equal(policies_resume(of->policies, compiled, REF, &resumed), 0);
	assert_true(must_be_compared(resumed));
	connect_root(&c, &client);
	assert_int_equal(ask_for(&c, big), 1);
	turn_until_ready(&c);
	assert_int_equal(dispatched, 1);
	assert_false(must_be_compared(resumed));
	assert_int_equal(ask_for(&c, big), 0);
	close_both(&c, client);
	remove_approvals(directory);
	policies_free(of->policies);
	of->policies = NULL;
	remove_policies();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_compiled),
		cmocka_unit_test(test_left_while_compiled),
		cmocka_unit_test(test_bad_policy),
		cmocka_unit_test(test_applied),
		cmocka_unit_test(test_reloaded),
		cmocka_unit_test(test_compared),
	};

	writer_fixture_main(argc, argv);
	return cmocka_run_group_tests(tests, setup, teardown);
}

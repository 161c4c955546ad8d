/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Databases of users that answer, that do not exist for somebody, and that never answer, behind the
 * daemon's loop.
 */
#include "tests/unit/daemon/server/ahead_fixture.h"

static void on_ready(struct connection *c, json_t *message, struct protocol_fds *fds)
{
	assert_int_equal(fds->count, 0);
	assert_null(c->ahead);
	told++;
	if (!message)
		return;
	assert_string_equal(json_string_value(json_object_get(message, "op")), "approvals");
	dispatched += approve_is_authorised(&c->peer);
}

/* Never waits, whatever the database does. */
static int start(struct connection *c)
{
	json_t *message = json_pack("{s:s,s:i}", "op", "approvals", "from", 0);
	struct protocol_fds fds = {};
	struct failure failure = {};
	int r;

	vain_waits = 0;
	r = ahead_start(c, &message, &fds, on_ready, &failure);
	assert_loop_is_free();
	assert_true((r == 1) == (message == NULL));
	json_decref(message);
	return r;
}

static void test_answered(void **state)
{
	struct connection c;
	int client;

	(void)state;
	connect_member(&c, &client);
	database->hangs = false;
	database->exists = true;
	assert_int_equal(start(&c), 1);
	turn_until_ready(&c);
	assert_int_equal(dispatched, 1);
	assert_int_equal(database->asked, 1);
	assert_int_equal(database->as, geteuid() == 0 ? MEMBER : geteuid());
	/* Known by now. */
	assert_int_equal(start(&c), 0);
	assert_int_equal(database->asked, 1);
	names_release(&of->names);
	close_both(&c, client);
}

/* It may be made, and is asked for each time. */
static void test_missing(void **state)
{
	struct connection c;
	int client;

	(void)state;
	connect_member(&c, &client);
	database->hangs = false;
	database->exists = false;
	for (unsigned int i = 1; i <= 2; i++) {
		assert_int_equal(start(&c), 1);
		turn_until_ready(&c);
		assert_int_equal(dispatched, 0);
		assert_int_equal(database->asked, i);
	}
	close_both(&c, client);
}

/* The loop goes on meanwhile, and the request fails when its time is over. */
static void test_hangs(void **state)
{
	struct connection c;
	char answer[512] = "";
	int client;

	(void)state;
	connect_member(&c, &client);
	database->hangs = true;
	assert_int_equal(start(&c), 1);
	turn_until_ready(&c);
	assert_int_equal(told, 1);
	assert_int_equal(dispatched, 0);
	assert_true(recv(client, answer, sizeof(answer) - 1, MSG_DONTWAIT) > 0);
	assert_non_null(strstr(answer, "ETIMEDOUT"));
	assert_non_null(strstr(answer, "what looks users up did not answer in time"));
	close_both(&c, client);
}

/* Whoever leaves takes his question with him. */
static void test_left(void **state)
{
	struct connection c;
	int client;

	(void)state;
	connect_member(&c, &client);
	database->hangs = true;
	assert_int_equal(start(&c), 1);
	ahead_cancel(&c);
	assert_null(c.ahead);
	ahead_cancel(&c);
	assert_int_equal(event_base_loop(of->base, EVLOOP_NONBLOCK), 0);
	assert_int_equal(told, 0);
	close_both(&c, client);
}

/* An errand that is over may still be a child, too. */
static pid_t writer_pid(void)
{
	_cleanup_(freep) char *children = NULL;
	size_t size;

	assert_int_equal(
		io_read_file(AT_FDCWD, "/proc/thread-self/children", 4096, &children, &size), 0);
	for (char *rest = children, *word; (word = strsep(&rest, " ")) != NULL;) {
		_cleanup_(freep) char *command = NULL;
		char path[64];

		snprintf(path, sizeof(path), "/proc/%s/cmdline", word);
		if (*word && io_read_file(AT_FDCWD, path, 4096, &command, &size) == 0 &&
		    memmem(command, size, "--log-writer", strlen("--log-writer")))
			return (pid_t)atoi(word);
	}
	fail_msg("the log has no writer");
	return 0;
}

static void kill_writer(void)
{
	pid_t pid = writer_pid();

	assert_int_equal(kill(pid, SIGKILL), 0);
	/* It is replaced once somebody needs it: its death alone is told. */
	while (kill(pid, 0) == 0)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
}

/* Root's, where the policy is there that it asks for. */
static void connect_resident(struct connection *c, int *ret_client)
{
	const char *const none[] = {NULL};
	struct compiled_policy *compiled = NULL;
	const struct policy_use *use = NULL;

	write_policies();
	assert_int_equal(policies_new(NULL, none, -1, &of->policies), 0);
	assert_int_equal(policies_compile(of->policies, big, false, &compiled), 0);
	assert_int_equal(policies_resume(of->policies, compiled, REF, &use), 0);
	connect_root(c, ret_client);
}

static void close_resident(struct connection *c, int client)
{
	close_both(c, client);
	policies_free(of->policies);
	of->policies = NULL;
	remove_policies();
}

/*
 * Who comes while the log's writer is started again waits for it; nobody waits for a log that there
 * can be no writer for.
 */
static void test_writer_killed(void **state)
{
	char answer[2048] = "", aside[64];
	struct connection c;
	int client;

	(void)state;
	connect_resident(&c, &client);
	assert_int_equal(ask_for(&c, big), 1);
	turn_until_ready(&c);
	assert_int_equal(ask_for(&c, big), 0);
	assert_int_equal(dispatched, 1);

	kill_writer();
	assert_int_equal(ask_for(&c, big), 1);
	turn_until_ready(&c);
	assert_int_equal(dispatched, 2);

	/* Whoever leaves waits no more. */
	kill_writer();
	assert_int_equal(ask_for(&c, big), 1);
	ahead_cancel(&c);

	snprintf(aside, sizeof(aside), "%s/log", place);
	assert_int_equal(rename(log_directory, aside), 0);
	close(open(log_directory, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	assert_int_equal(ask_for(&c, big), 1);
	turn_until_ready(&c);
	assert_int_equal(told, 3);
	assert_int_equal(dispatched, 2);
	assert_true(recv(client, answer, sizeof(answer) - 1, MSG_DONTWAIT) > 0);
	assert_non_null(strstr(answer, "cannot be written"));
	assert_int_equal(unlink(log_directory), 0);
	assert_int_equal(rename(aside, log_directory), 0);
	close_resident(&c, client);
}

/* A log that is named is looked at beside the loop: its file system may never answer. */
static void test_named_log(void **state)
{
	char answer[2048] = "";
	struct connection c;
	int client;

	(void)state;
	connect_resident(&c, &client);
	database->hangs = false;
	database->asked = 0;
	assert_int_equal(ask_with_log(&c, big, json_string(log_directory)), 1);
	turn_until_ready(&c);
	assert_int_equal(dispatched, 1);
	/* And for the writer, in whose place something else has been. */
	assert_in_range(database->asked, 1, 2);

	database->hangs = true;
	assert_int_equal(ask_with_log(&c, big, json_string(log_directory)), 1);
	ahead_cancel(&c);
	assert_int_equal(ask_with_log(&c, big, json_string(log_directory)), 1);
	turn_until_ready(&c);
	database->hangs = false;
	assert_int_equal(told, 2);
	assert_int_equal(dispatched, 1);
	assert_true(recv(client, answer, sizeof(answer) - 1, MSG_DONTWAIT) > 0);
	assert_non_null(strstr(answer, "does not answer"));
	close_resident(&c, client);
}

static int ask_as_member(struct connection *c)
{
	json_t *message = good_prepare();
	struct protocol_fds fds = {};
	struct failure failure = {};
	int r;

	json_object_set_new(message, "policy", json_string("big"));
	json_object_set_new(message, "log", json_null());
	json_object_set_new(message, "uid", json_integer(NOBODY));
	json_object_set_new(message, "gid", json_integer(MEMBER));
	r = ahead_start(c, &message, &fds, on_policy, &failure);
	json_decref(message);
	return r;
}

/* Whoever leaves while he waits for a writer, after his account was looked up. */
static void test_left_for_writer(void **state)
{
	const char *const directories[] = {place, NULL};
	char account[NAMES_ACCOUNT_SIZE], *const questions[] = {account, NULL};
	struct compiled_policy *compiled = NULL;
	const struct policy_use *use = NULL;
	struct connection c;
	int client;

	(void)state;
	write_policies();
	assert_int_equal(policies_new(NULL, directories, -1, &of->policies), 0);
	assert_int_equal(policies_compile(of->policies, "big", false, &compiled), 0);
	assert_int_equal(policies_resume(of->policies, compiled, REF, &use), 0);
	connect_member(&c, &client);
	database->hangs = false;
	database->exists = true;
	c.peer.ucred.uid = NOBODY;
	names_account(NOBODY, account);
	kill_writer();
	assert_int_equal(ask_as_member(&c), 1);
	while (c.ahead && !names_know(&of->names, questions, clock_nsec(CLOCK_MONOTONIC)))
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_non_null(c.ahead);
	ahead_cancel(&c);
	assert_int_equal(told + dispatched, 0);
	/* The writer tells only who still waits. */
	assert_int_equal(ask_as_member(&c), 1);
	turn_until_ready(&c);
	assert_int_equal(told, 1);
	assert_int_equal(dispatched, 1);
	names_release(&of->names);
	close_both(&c, client);
	policies_free(of->policies);
	of->policies = NULL;
	remove_policies();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answered),	cmocka_unit_test(test_missing),
		cmocka_unit_test(test_hangs),		cmocka_unit_test(test_left),
		cmocka_unit_test(test_writer_killed),	cmocka_unit_test(test_named_log),
		cmocka_unit_test(test_left_for_writer),
	};

	writer_fixture_main(argc, argv);
	return cmocka_run_group_tests(tests, setup, teardown);
}

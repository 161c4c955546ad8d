/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients ask of the control socket and are told, through a socket of the test's own, and who
 * may.
 */
#include "tests/unit/daemon/server/server_fixture.h"

/* --- start and stop of it ----------------------------------------------------------------- */

static void test_start_faults(void **state)
{
	unsigned int n = 1;

	(void)state;
	server_free(world->server);
	world->server = NULL;
	for (;; n++) {
		faults_set(n, EACCES);
		if (start() == 0)
			break;
		assert_null(world->server);
	}
	/* The reader, the stale names, the sockets, the group of one. */
	assert_int_equal(n, 13);
	faults_none();
	assert_int_equal(access(world_path("socket"), F_OK), 0);
	server_stop_accepting(world->server);
	server_stop_accepting(world->server);
	assert_int_equal(access(world_path("socket"), F_OK), -1);
	assert_true(world->leaving);
}

static void test_freed_with_clients(void **state)
{
	int fd = client();
	struct execution *e = live_by(fd);

	(void)state;
	assert_non_null(e->owner.connection);
	server_free(world->server);
	world->server = NULL;
	assert_null(e->owner.connection);
	close(fd);
}

/* --- plain questions ---------------------------------------------------------------------- */

static void test_questions(void **state)
{
	int fd = client();

	(void)state;
	assert_int_equal(server_connections(world->server), 1);
	expect_ok(ask(fd, json_pack("{s:s,s:i}", "op", "hello", "version", PROTOCOL_VERSION)));
	expect_ok(ask(fd, op("status")));
	expect_ok(ask(fd, op("ps")));
	expect_refused(ask(fd, json_pack("{s:s,s:i}", "op", "ps", "from", -1)), "slot");
	expect_refused(ask(fd, op("reload")), "embedded");
	expect_refused(ask(fd, json_pack("{s:s,s:i}", "op", "adopt", "pid", 1)), "embedded");
	expect_refused(ask(fd, op("approvals")), "requires no approvals");
	expect_refused(ask(fd, op("decide")), "requires no approvals");
	expect_refused(ask(fd, op("kill")), "");
	expect_refused(ask(fd, op("label")), "nothing was prepared");
	expect_refused(ask(fd, op("stop")), "");
	expect_refused(ask(fd, op("apply")), "");
	expect_refused(ask(fd, op("who")), "");
	expect_refused(ask(fd, op("abort")), "");
	expect_refused(ask(fd, ended(NULL)), "");
	expect_refused(ask(fd, json_pack("{s:s,s:s}", "op", "kill", "id", WORLD_DIGEST)), "not an");
	close(fd);
	turns();
	assert_int_equal(server_connections(world->server), 0);
	assert_true(seen.idle > 0);
}

/* What is no request ends the connection, and says why. */
static void test_nonsense(void **state)
{
	static const char *const words[] = {"{", "[]", "{\"op\":\"dance\"}", "{\"op\":\"hello\"}"};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		int fd = client();

		assert_int_equal(send(fd, words[i], strlen(words[i]), 0), strlen(words[i]));
		expect_refused(answer(fd), "");
		assert_null(answer(fd));
		assert_int_equal(server_connections(world->server), 0);
		close(fd);
	}
}

static void test_reader_dies(void **state)
{
	int fd = client();

	(void)state;
	faults_set_for("readers_parse", EPROTO);
	expect_refused(ask(fd, op("status")), "reader died");
	assert_int_equal(server_connections(world->server), 0);
	close(fd);
}

static void test_no_reader(void **state)
{
	int fd = client();

	(void)state;
	faults_set_for("readers_ask", ENFILE);
	expect_refused(ask(fd, op("status")), "cannot start what reads requests");
	assert_int_equal(server_connections(world->server), 0);
	close(fd);
}

/*
 * Nothing more is taken from whoever asks, and others are served; what came along goes with the
 * connection.
 */
static void test_reader_hangs(void **state)
{
	int fd = client(), other = client(),
	    workdir = open(world_path("work"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	fake_reader.hang = true;
	send_with(fd, world_request("p", false), &workdir, 1);
	close(workdir);
	turns();
	assert_non_null(fake_reader.hanging);
	fake_reader.hang = false;
	send_with(fd, op("status"), NULL, 0);
	assert_null(answer(fd));
	expect_ok(ask(other, op("status")));
	event_active(fake_reader.hanging->later, EV_TIMEOUT, 0);
	expect_ok(answer(fd));
	expect_ok(answer(fd));
	/* Whose server goes meanwhile is told nothing. */
	fake_reader.hang = true;
	send_with(other, op("status"), NULL, 0);
	turns();
	assert_non_null(fake_reader.hanging);
	server_free(world->server);
	world->server = NULL;
	assert_null(fake_reader.hanging);
	fake_reader.hang = false;
	turns();
	close(fd);
	close(other);
}

/* --- an execution ------------------------------------------------------------------------- */

static void test_life(void **state)
{
	int fd = client(), other = client();
	struct execution *e = prepared_by(fd);
	json_t *reply;
	char id[UUID_TEXT_SIZE];

	(void)state;
	strcpy(id, e->id);
	/* One at a time. */
	expect_refused(ask(fd, world_request("p", false)), "one execution at most");
	assert_int_equal(world_try_label(e, 4194000), 0);
	world->execution_begun(e, 0, NULL);
	expect_ok(answer(fd));
	reply = ask(other, op("ps"));
	assert_int_equal(json_array_size(json_object_get(reply, "executions")), 1);
	expect_ok(reply);
	expect_ok(ask(fd, ended(NULL)));
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "exited");
	/* It is told once. */
	expect_refused(ask(fd, ended(NULL)), "nothing was prepared");
	close(fd);
	close(other);
}

static void test_refused_prepare(void **state)
{
	int fd = client(), workdir = open(world_path("work"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	send_with(fd, world_request("nowhere", false), &workdir, 1);
	expect_refused(answer(fd), "nowhere");
	world->leaving = true;
	expect_refused(ask(fd, world_request("p", false)), "being disabled");
	world->leaving = false;
	close(workdir);
	close(fd);
}

static void test_refused_label(void **state)
{
	int fd = client(), pidfd = pidfd_open(world_child(), 0);
	struct execution *e = prepared_by(fd);

	(void)state;
	kernel->death = FAKE_STUBBORN;
	send_with(fd,
		  json_pack("{s:s,s:[],s:[]}", "op", "label", "environment_kept",
			    "environment_removed"),
		  &pidfd, 1);
	close(pidfd);
	turns();
	expect_refused(answer(fd), "cgroup");
	(void)e;
	assert_true(world_settle());
	close(fd);
}

static void test_start_not_written(void **state)
{
	int fd = client();
	struct execution *e = live_by(fd);

	(void)state;
	world->execution_begun(e, -ENOSPC, "no room");
	assert_int_equal(e->state, EXECUTION_ENDING);
	expect_refused(answer(fd), "no room");
	close(fd);
}

static void test_aborted(void **state)
{
	int fd = client();

	(void)state;
	(void)prepared_by(fd);
	expect_ok(ask(fd, json_pack("{s:s,s:s,s:s}", "op", "abort", "error", "ENOEXEC", "message",
				    "no program")));
	assert_true(world_settle());
	assert_int_equal(seen.idle > 0, 1);
	close(fd);
}

/* It ended before its owner asked: that is kept. */
static void test_outcome_kept(void **state)
{
	int fd = client();
	struct execution *e = live_by(fd);

	(void)state;
	e->leader = 0;
	ending_begin(e, AUDIT_END_KILLED);
	assert_true(world_settle());
	expect_refused(ask(fd, world_request("p", false)), "one execution at most");
	expect_ok(ask(fd, ended(NULL)));
	close(fd);
}

static void test_owner_leaves(void **state)
{
	int fd = client();

	(void)state;
	(void)live_by(fd);
	close(fd);
	turns();
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "owner-gone");
}

/* An earlier daemon's: its owner, and nobody else, tells its end. */
static void test_taken_over(void **state)
{
	int fd = client();
	struct execution *e = world_live();
	char id[UUID_TEXT_SIZE];

	(void)state;
	strcpy(id, e->id);
	e->owner.connection = NULL;
	expect_refused(ask(fd, ended(id)), "no such execution waits");
	e->recovered = true;
	e->owner.start++;
	expect_refused(ask(fd, ended(id)), "another process's");
	e->owner.start--;
	expect_ok(ask(fd, ended(id)));
	assert_string_equal(world_end_cause(), "exited");
	close(fd);
}

int main(void)
{
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_start_faults),	     ONE(test_freed_with_clients),
		ONE(test_questions),	     ONE(test_nonsense),
		ONE(test_reader_dies),	     ONE(test_no_reader),
		ONE(test_reader_hangs),	     ONE(test_life),
		ONE(test_refused_prepare),   ONE(test_refused_label),
		ONE(test_start_not_written), ONE(test_aborted),
		ONE(test_outcome_kept),	     ONE(test_owner_leaves),
		ONE(test_taken_over),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, only_as_root, NULL);
}

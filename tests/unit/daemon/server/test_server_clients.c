/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask the server: members, strangers, and how much of it one of them gets. */
#include "tests/unit/daemon/server/server_fixture.h"

/* --- a server and its clients ------------------------------------------------------------- */

#define USER 4343

static struct executors executors;

/* Connects as a member of the group, who stays one for what is sent within. */
static void be(uid_t uid)
{
	if (uid) {
		assert_int_equal(setresgid(FAKE_GROUP, FAKE_GROUP, 0), 0);
		assert_int_equal(setresuid(uid, uid, 0), 0);
	} else {
		assert_int_equal(setresuid(0, 0, 0), 0);
		assert_int_equal(setresgid(0, 0, 0), 0);
	}
}

/* --- kill, who, apply, stop --------------------------------------------------------------- */

static json_t *kill_of(const char *id)
{
	return json_pack("{s:s,s:s}", "op", "kill", "id", id);
}

static void test_kill(void **state)
{
	int fd = client(), owner = client();
	struct execution *e = live_by(owner);
	char id[UUID_TEXT_SIZE];

	(void)state;
	strcpy(id, e->id);
	expect_refused(ask(fd, kill_of("01a200b0-9a16-761b-9929-42330cf895e5")),
		       "no such execution");
	e->leader = 0;
	send_with(fd, kill_of(id), NULL, 0);
	assert_true(world_settle());
	expect_ok(answer(fd));
	assert_string_equal(world_end_cause(), "killed");
	expect_refused(ask(fd, kill_of(id)), "no such execution");
	close(fd);
	close(owner);
}

static void test_stuck(void **state)
{
	int fd = client(), owner = client();
	struct execution *e = live_by(owner);

	(void)state;
	kernel->death = FAKE_STUBBORN;
	send_with(owner, ended(NULL), NULL, 0);
	send_with(fd, kill_of(e->id), NULL, 0);
	turns();
	e->ending.since = 0;
	ending_timer(-1, EV_TIMEOUT, e);
	expect_refused(answer(fd), "survive SIGKILL");
	expect_refused(answer(owner), "survive SIGKILL");
	kernel->death = FAKE_DIES;
	while (e->state == EXECUTION_ENDING)
		ending_timer(-1, EV_TIMEOUT, e);
	close(fd);
	close(owner);
}

static void test_one_at_a_time(void **state)
{
	int fd = client(), owner = client();
	struct execution *e = live_by(owner);

	(void)state;
	kernel->death = FAKE_STUBBORN;
	send_with(fd, kill_of(e->id), NULL, 0);
	turns();
	expect_refused(ask(fd, op("status")), "one request at a time");
	assert_null(answer(fd));
	kernel->death = FAKE_DIES;
	close(fd);
	close(owner);
}

static void test_who(void **state)
{
	int fd = client();
	struct execution *e = live_by(fd);
	pid_t pid = world_child();

	(void)state;
	expect_refused(ask(fd, json_pack("{s:s,s:i}", "op", "who", "pid", (int)pid)), "no live");
	expect_refused(ask(fd, json_pack("{s:s,s:i}", "op", "who", "cgroup", 1)), "no live");
	kernel->label_pid = pid;
	kernel->label_slot = e->slot;
	expect_ok(ask(fd, json_pack("{s:s,s:i}", "op", "who", "pid", (int)pid)));
	world_kill(pid);
	expect_refused(ask(fd, json_pack("{s:s,s:i}", "op", "who", "pid", (int)pid)), "no such");
	close(fd);
}

static void test_apply(void **state)
{
	int fd = client();
	struct execution *e = live_by(fd);

	(void)state;
	expect_ok(ask(fd, json_pack("{s:s,s:s,s:s,s:n,s:n,s:n}", "op", "apply", "policy", "narrow",
				    "execution", e->id, "all_of", "session", "reason")));
	assert_string_equal(e->policy->policy->name, "narrow");
	expect_refused(ask(fd, json_pack("{s:s,s:s,s:s,s:n,s:n,s:n}", "op", "apply", "policy", "p",
					 "execution", e->id, "all_of", "session", "reason")),
		       "allow-wider");
	close(fd);
}

static json_t *apply_to_session(void)
{
	return json_pack("{s:s,s:s,s:n,s:n,s:s,s:n}", "op", "apply", "policy", "narrow",
			 "execution", "all_of", "session", "s-1", "reason");
}

/* It is asked for, and needs more than one turn. */
static int asked_for_many(void)
{
	int fd = client();

	for (int i = 0; i < 40; i++)
		(void)world_live();
	send_with(fd, apply_to_session(), NULL, 0);
	/* Of what is ready, and not of what follows from that. */
	for (int i = 0; i < 100 && LIST_EMPTY(&world->applying); i++) {
		event_base_loop(world->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
		if (errand)
			errand_answers_apart();
	}
	assert_false(LIST_EMPTY(&world->applying));
	return fd;
}

static void expect_applied(void)
{
	for (int i = 0; i < 100 && !LIST_EMPTY(&world->applying); i++)
		world_turn();
	assert_true(LIST_EMPTY(&world->applying));
	for (uint32_t slot = 0; slot < 40; slot++) {
		assert_string_equal(world->by_slot[slot]->policy->policy->name, "narrow");
		ending_owner_gone(world->by_slot[slot]);
	}
}

static void test_apply_to_many(void **state)
{
	int fd = asked_for_many();
	json_int_t changed = 0;
	json_t *reply;

	(void)state;
	expect_applied();
	reply = answer(fd);
	assert_int_equal(json_unpack(reply, "{s:I}", "changed", &changed), 0);
	assert_int_equal(changed, 40);
	json_decref(reply);
	close(fd);
}

/* What was begun is made, although nobody hears of it. */
static void test_apply_unheard(void **state)
{
	(void)state;
	close(asked_for_many());
	expect_applied();
	assert_int_equal(server_connections(world->server), 0);
}

static void test_apply_left(void **state)
{
	int fd = asked_for_many();

	(void)state;
	server_free(world->server);
	world->server = NULL;
	assert_true(LIST_EMPTY(&world->applying));
	for (uint32_t slot = 0; slot < 40; slot++) {
		assert_string_equal(world->by_slot[slot]->policy->policy->name, "p");
		ending_owner_gone(world->by_slot[slot]);
	}
	close(fd);
}

static json_t *stop(bool force)
{
	return json_pack("{s:s,s:b}", "op", "stop", "force", force);
}

static void test_stop(void **state)
{
	int fd = client(), owner = client();

	(void)state;
	live_by(owner)->leader = 0;
	expect_refused(ask(fd, stop(false)), "are live");
	assert_false(server_stop_requested(world->server));
	send_with(fd, stop(true), NULL, 0);
	turns();
	assert_true(server_stop_requested(world->server));
	assert_true(world_settle());
	assert_string_equal(world_end_cause(), "killed");
	server_stopped(world->server, 0, NULL);
	expect_ok(answer(fd));
	close(fd);
	close(owner);
}

static void test_stop_failed(void **state)
{
	int fd = client();

	(void)state;
	send_with(fd, stop(false), NULL, 0);
	turns();
	server_stopped(world->server, -EBUSY, "something holds it");
	expect_refused(answer(fd), "something holds it");
	close(fd);
}

/* --- executors and approvals -------------------------------------------------------------- */

static void test_executors(void **state)
{
	int fd = client();
	char path[160];

	(void)state;
	snprintf(path, sizeof(path), "%s", world_path("cordon.yaml"));
	executors = (struct executors){
		.daemon = world,
		.path = path,
		.adoption = (struct adoption *)kernel,
	};
	executors.timer = evtimer_new(world->base, world_flush, world);
	world->executors = &executors;
	/* Without the file there are none. */
	expect_ok(ask(fd, op("reload")));
	world_write("cordon.yaml", "version: 1\nexecutors: 7\n");
	expect_refused(ask(fd, op("reload")), "cordon.yaml");
	expect_refused(
		ask(fd, json_pack("{s:s,s:i,s:s}", "op", "adopt", "pid", 1, "executor", "x")), "");
	expect_ok(ask(fd, op("status")));
	send_with(fd, stop(true), NULL, 0);
	turns();
	event_free(executors.timer);
	world->executors = NULL;
	close(fd);
}

static json_t *decide(const char *decision, const char *digest, const char *policy)
{
	return json_pack("{s:s,s:s,s:s?,s:s?,s:s,s:i}", "op", "decide", "decision", decision,
			 "digest", digest, "policy", policy, "reason", "because", "expires", 0);
}

static void test_approvals(void **state)
{
	int fd = client(), workdir = open(world_path("work"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct failure failure = {};
	json_t *reply;

	(void)state;
	assert_int_equal(approvals_open(world_path("notes"), &world->approvals, &failure), 0);
	send_with(fd, world_request("p", false), &workdir, 1);
	expect_refused(answer(fd), "cordon approve");
	reply = ask(fd, op("approvals"));
	assert_int_equal(json_array_size(json_object_get(reply, "approvals")), 1);
	expect_ok(reply);
	expect_refused(ask(fd, decide("approve", "00000000", NULL)), "");
	expect_refused(ask(fd, decide("approve", NULL, "nowhere")), "");
	expect_refused(ask(fd, json_pack("{s:s,s:s}", "op", "approvals", "from", "x")), "");
	/* A decision that cannot be written down is not made. */
	faults_set_for("logs_flush", EIO);
	expect_refused(ask(fd, decide("approve", NULL, "p")), "");
	faults_none();
	send_with(fd, world_request("p", false), &workdir, 1);
	expect_refused(answer(fd), "cordon approve");
	expect_ok(ask(fd, decide("approve", NULL, "p")));
	send_with(fd, world_request("p", false), &workdir, 1);
	expect_ok(answer(fd));
	close(workdir);
	close(fd);
	turns();
	assert_true(world_settle());
	approvals_free(world->approvals);
	world->approvals = NULL;
}

/* --- who may ------------------------------------------------------------------------------ */

static void test_member(void **state)
{
	int fd, owner = client();
	struct execution *e = live_by(owner);
	json_t *reply;

	(void)state;
	assert_int_equal(chmod(seen.directory, 0755), 0);
	be(USER);
	fd = client();
	send_with(fd, op("status"), NULL, 0);
	be(0);
	expect_ok(answer(fd));
	/* Root's are not his to see, or to end. */
	be(USER);
	send_with(fd, op("ps"), NULL, 0);
	be(0);
	reply = answer(fd);
	assert_int_equal(json_array_size(json_object_get(reply, "executions")), 0);
	expect_ok(reply);
	be(USER);
	send_with(fd, kill_of(e->id), NULL, 0);
	be(0);
	expect_refused(answer(fd), "no such execution");
	assert_int_equal(e->state, EXECUTION_LIVE);
	/* What only root may ask. */
	be(USER);
	send_with(fd, stop(true), NULL, 0);
	be(0);
	expect_refused(answer(fd), "only root");
	assert_false(server_stop_requested(world->server));
	close(fd);
	close(owner);
}

/* Whoever sends is not who connected. */
static void test_handed_on(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(chmod(seen.directory, 0755), 0);
	be(USER);
	fd = client();
	be(0);
	expect_refused(ask(fd, op("status")), "another process's");
	close(fd);
}

static void test_stranger(void **state)
{
	int fd;

	(void)state;
	server_free(world->server);
	have_group = false;
	assert_int_equal(start(), 0);
	assert_int_equal(chmod(seen.directory, 0755), 0);
	assert_int_equal(chmod(PROTOCOL_SOCKET, 0666), 0);
	be(USER);
	fd = client();
	be(0);
	expect_refused(answer(fd), "only root");
	assert_int_equal(server_connections(world->server), 0);
	close(fd);
}

static void test_too_many_of_one(void **state)
{
	int fds[ACCOUNT_MAX_CONNECTIONS + 1];

	(void)state;
	assert_int_equal(chmod(seen.directory, 0755), 0);
	be(USER);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		fds[i] = client();
	be(0);
	expect_refused(answer(fds[ACCOUNT_MAX_CONNECTIONS]), "too many connections");
	assert_int_equal(server_connections(world->server), ACCOUNT_MAX_CONNECTIONS);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		close(fds[i]);
}

/*
 * Out of descriptors: whoever waits in the backlog has his turn a second later, and the loop does
 * not spin.
 */
static void test_accept_fails(void **state)
{
	int fd;

	(void)state;
	faults_set_for("accept4", ECONNABORTED);
	fd = client();
	assert_int_equal(server_connections(world->server), 1);
	close(fd);
	turns();
	faults_set_for("accept4", EMFILE);
	fd = client();
	assert_int_equal(server_connections(world->server), 0);
	assert_non_null(strstr(seen.said, "accepting a connection"));
	while (server_connections(world->server) == 0)
		assert_int_equal(event_base_loop(world->base, EVLOOP_ONCE), 0);
	expect_ok(ask(fd, op("status")));
	close(fd);
}

/* Whoever has had his share is read from later; root is not kept waiting. */
static void test_share(void **state)
{
	struct account *account = &world->accounts.account[0];
	int fd, other = client();
	json_t *reply;

	(void)state;
	assert_int_equal(chmod(seen.directory, 0755), 0);
	be(USER);
	fd = client();
	assert_int_equal(account->uid, USER);
	account_charge(account, ACCOUNT_SAVINGS_NSEC + 100 * (int64_t)NSEC_PER_MSEC,
		       clock_nsec(CLOCK_MONOTONIC));
	send_with(fd, op("status"), NULL, 0);
	be(0);
	assert_null(answer(fd));
	expect_ok(ask(other, op("status")));
	while (!(reply = answer(fd)))
		nanosleep(&(const struct timespec){.tv_nsec = 10000000}, NULL);
	expect_ok(reply);
	close(fd);
	close(other);
}

int main(void)
{
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_kill),		 ONE(test_stuck),
		ONE(test_one_at_a_time), ONE(test_who),
		ONE(test_apply),	 ONE(test_apply_to_many),
		ONE(test_apply_unheard), ONE(test_apply_left),
		ONE(test_stop),		 ONE(test_stop_failed),
		ONE(test_executors),	 ONE(test_approvals),
		ONE(test_member),	 ONE(test_handed_on),
		ONE(test_stranger),	 ONE(test_too_many_of_one),
		ONE(test_accept_fails),	 ONE(test_share),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, only_as_root, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients ask of the control socket and are told, through a socket of the test's own, and who
 * may.
 */
#include "tests/unit/daemon/fake/world.h"

#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/dns/dns_stub_parts.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/policy/approvals.h"
#include "daemon/server/server.h"
#include "tests/unit/daemon/fake/errands.h"
#include "tests/unit/daemon/fake/socket.h"

/* --- a server and its clients ------------------------------------------------------------- */

#define USER 4343

static struct dns_stub stub;
static struct executors executors;

static int start(void)
{
	struct failure failure = {};
	int r = server_start(world, &world->server, &failure);

	assert_int_equal(r < 0, failure.text[0] != '\0');
	return r;
}

static int setup(void **state)
{
	(void)state;
	have_group = true;
	world_new();
	world_write("policies/narrow.yaml",
		    "version: 1\nname: narrow\non_denial: {limit: 3, action: kill}\nfiles:\n"
		    "  - {allow: [read], paths: [\"${workdir}/**\"]}\n");
	world->dns = &stub;
	assert_int_equal(start(), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	faults_none();
	if (world->server)
		server_free(world->server);
	world->server = NULL;
	world->execution_finished = NULL;
	for (uint32_t slot = 0; slot < 4; slot++)
		if (world->by_slot[slot] && world->by_slot[slot]->state < EXECUTION_FINISHED)
			ending_owner_gone(world->by_slot[slot]);
	assert_true(world_settle());
	world_check_empty(NULL);
	world_end();
	return 0;
}

static void turns(void)
{
	for (int i = 0; i < 4; i++) {
		world_turn();
		/* What requests need that takes time. */
		if (errand)
			errand_answers_apart();
	}
}

static int client(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", world_path("socket"));
	assert_int_equal(connect(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	turns();
	return fd;
}

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

static json_t *answer(int fd)
{
	struct protocol_fds fds = {};
	struct failure failure = {};
	json_t *message = NULL;

	turns();
	if (protocol_receive(fd, &message, &fds, NULL, &failure) < 0)
		return NULL;
	protocol_fds_close(&fds);
	return message;
}

static void send_with(int fd, json_t *message, const int *fds, size_t count)
{
	assert_non_null(message);
	assert_int_equal(protocol_send(fd, message, fds, count), 0);
	json_decref(message);
}

static json_t *ask(int fd, json_t *message)
{
	send_with(fd, message, NULL, 0);
	return answer(fd);
}

static void expect_ok(json_t *reply)
{
	if (!reply || !json_is_true(json_object_get(reply, "ok"))) {
		char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;

		fail_msg("%s", text ? text : "no answer");
	}
	json_decref(reply);
}

static void expect_refused(json_t *reply, const char *why)
{
	char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;

	if (!text || json_is_true(json_object_get(reply, "ok")) || !strstr(text, why))
		fail_msg("%s does not say: %s", text ? text : "nothing", why);
	free(text);
	json_decref(reply);
}

static json_t *op(const char *name)
{
	return json_pack("{s:s}", "op", name);
}

static struct execution *prepared_by(int fd)
{
	int workdir = open(world_path("work"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	send_with(fd, world_request("p", false), &workdir, 1);
	close(workdir);
	expect_ok(answer(fd));
	return world->by_slot[0];
}

static struct execution *live_by(int fd)
{
	struct execution *e = prepared_by(fd);

	assert_int_equal(world_try_label(e, 4194000), 0);
	return e;
}

static json_t *ended(const char *id)
{
	return json_pack("{s:s,s:s*,s:i,s:n,s:i,s:i}", "op", "ended", "id", id, "status", 0, "code",
			 "user_nsec", 1, "system_nsec", 1);
}

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
	assert_int_equal(n, 10);
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
	assert_non_null(e->connection);
	server_free(world->server);
	world->server = NULL;
	assert_null(e->connection);
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
	e->connection = NULL;
	expect_refused(ask(fd, ended(id)), "no such execution waits");
	e->recovered = true;
	e->owner_start++;
	expect_refused(ask(fd, ended(id)), "another process's");
	e->owner_start--;
	expect_ok(ask(fd, ended(id)));
	assert_string_equal(world_end_cause(), "exited");
	close(fd);
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
	e->ending_since = 0;
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
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + 30 * NSEC_PER_SEC;
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
	while (server_connections(world->server) == 0 && clock_nsec(CLOCK_MONOTONIC) < end)
		event_base_loop(world->base, EVLOOP_ONCE);
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
	for (int i = 0; !(reply = answer(fd)) && i < 1000; i++)
		nanosleep(&(const struct timespec){.tv_nsec = 10000000}, NULL);
	expect_ok(reply);
	close(fd);
	close(other);
}

static int only_as_root(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		fprintf(stderr, "needs root: clients are root and others\n");
		return -1;
	}
	return 0;
}

int main(void)
{
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_start_faults),
		ONE(test_freed_with_clients),
		ONE(test_questions),
		ONE(test_nonsense),
		ONE(test_reader_dies),
		ONE(test_no_reader),
		ONE(test_reader_hangs),
		ONE(test_life),
		ONE(test_refused_prepare),
		ONE(test_refused_label),
		ONE(test_start_not_written),
		ONE(test_aborted),
		ONE(test_outcome_kept),
		ONE(test_owner_leaves),
		ONE(test_taken_over),
		ONE(test_kill),
		ONE(test_stuck),
		ONE(test_one_at_a_time),
		ONE(test_who),
		ONE(test_apply),
		ONE(test_stop),
		ONE(test_stop_failed),
		ONE(test_executors),
		ONE(test_approvals),
		ONE(test_member),
		ONE(test_handed_on),
		ONE(test_stranger),
		ONE(test_too_many_of_one),
		ONE(test_accept_fails),
		ONE(test_share),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, only_as_root, NULL);
}

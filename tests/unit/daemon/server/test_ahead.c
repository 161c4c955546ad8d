/* SPDX-License-Identifier: Apache-2.0 */
/* Databases of users that answer, that do not exist for somebody, and that never answer, behind the daemon's loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/privsep/errand.h"
#include "daemon/server/ahead.h"
#include "daemon/server/approve.h"

/* What the loop may take for a turn in which somebody asks; a sanitized program's fork takes its time. */
#define TURN_NSEC (2 * NSEC_PER_SEC)
#define MEMBER	  54321
#define APPROVERS 54322

static struct daemon *of;
static unsigned int told, dispatched;
static pid_t loop;

/* Shared with the process that asks. */
static struct {
	bool hangs;
	bool exists;
	unsigned int asked;
	uid_t as;
} *database;

/* The host's database of groups, in place of the C library's. */
struct group *getgrnam(const char *name)
{
	static struct group group = {.gr_gid = APPROVERS};

	database->asked++;
	database->as = geteuid();
	/* A loop that asked by itself would be late: see start(). */
	if (database->hangs && getpid() == loop)
		sleep(3);
	while (database->hangs && getpid() != loop)
		(void)pause();
	return database->exists && strcmp(name, APPROVE_GROUP) == 0 ? &group : NULL;
}

static int setup(void **state)
{
	(void)state;
	of = calloc(1, sizeof(*of));
	of->base = event_base_new();
	loop = getpid();
	database = mmap(NULL, sizeof(*database), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	return database == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	errands_forget();
	event_base_free(of->base);
	names_release(&of->names);
	free(of);
	while (waitpid(-1, NULL, 0) > 0)
		;
	return 0;
}

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

/* A member's connection; what it is told comes out at *ret_client. */
static void connect_member(struct connection *c, int *ret_client)
{
	static gid_t groups[] = {APPROVERS};
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	*c = (struct connection){
		.daemon = of,
		.fd = ends[0],
		.report_fd = -1,
		.peer = {.ucred = {.pid = getpid(), .uid = MEMBER, .gid = MEMBER},
			 .groups = groups,
			 .group_count = 1,
			 .names = &of->names},
	};
	*ret_client = ends[1];
	told = dispatched = 0;
	database->asked = 0;
}

/* Within a turn, whatever the database does. */
static int start(struct connection *c)
{
	json_t *message = json_pack("{s:s,s:i}", "op", "approvals", "from", 0);
	uint64_t begin = clock_nsec(CLOCK_MONOTONIC);
	struct protocol_fds fds = {};
	struct failure failure = {};
	int r = ahead_start(c, &message, &fds, on_ready, &failure);

	assert_true(clock_nsec(CLOCK_MONOTONIC) - begin < TURN_NSEC);
	assert_true((r == 1) == (message == NULL));
	json_decref(message);
	return r;
}

static void close_both(const struct connection *c, int client)
{
	close(c->fd);
	close(client);
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
	while (c.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
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
		while (c.ahead)
			assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
		assert_int_equal(dispatched, 0);
		assert_int_equal(database->asked, i);
	}
	close_both(&c, client);
}

/* The loop turns meanwhile, and whoever asked is refused when it is enough. */
static void test_hangs(void **state)
{
	struct connection c;
	char answer[512] = "";
	int client;

	(void)state;
	connect_member(&c, &client);
	database->hangs = true;
	assert_int_equal(start(&c), 1);
	while (c.ahead) {
		uint64_t begin = clock_nsec(CLOCK_MONOTONIC);

		assert_int_equal(event_base_loop(of->base, EVLOOP_NONBLOCK), 0);
		assert_true(clock_nsec(CLOCK_MONOTONIC) - begin < TURN_NSEC);
		usleep(10000);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answered),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_left),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

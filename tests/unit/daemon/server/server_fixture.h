/* SPDX-License-Identifier: Apache-2.0 */
/* A server over the fake kernel, and clients of its own. */
#ifndef CORDON_TEST_SERVER_FIXTURE_H
#define CORDON_TEST_SERVER_FIXTURE_H

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

static struct dns_stub stub;

/* As the daemon's start does: from getgrnam(3), which is socket.h's. */
static void learn_groups(void)
{
	char *const questions[] = {(char *)"@" PEER_GROUP, NULL};
	_cleanup_(freep) char *data = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&data, &size);

	assert_non_null(to);
	names_look_up(questions, to);
	assert_int_equal(fclose(to), 0);
	assert_int_equal(names_learn(&world->names, questions, data, size, 0), 0);
}

static int start(void)
{
	struct failure failure = {};
	int r;

	learn_groups();
	r = server_start(world, &world->server, &failure);

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

static int only_as_root(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		fprintf(stderr, "needs root: clients are root and others\n");
		return -1;
	}
	return 0;
}

#endif

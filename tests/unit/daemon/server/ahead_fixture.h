/* SPDX-License-Identifier: Apache-2.0 */
/* A server whose requests wait for what is found out beside the loop. */
#ifndef CORDON_TEST_AHEAD_FIXTURE_H
#define CORDON_TEST_AHEAD_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "daemon/executor/executors_parts.h"
#include "daemon/policy/approvals.h"
#include "daemon/policy/comparison.h"
#include "daemon/privsep/errand.h"
#include "daemon/server/ahead.h"
#include "daemon/server/approve.h"
#include "tests/unit/control/request_fixture.h"
#include "tests/unit/daemon/fake/waits.h"
#include "tests/unit/daemon/privsep/writer_fixture.h"

#define MEMBER 54321

/* Who has an account everywhere. */
#define NOBODY	  65534
#define APPROVERS 54322

static struct daemon *of;

static unsigned int told, dispatched;

/* The process whose loop is tested. */
static pid_t loop;

static char log_directory[] = "/tmp/cordon-ahead-log-XXXXXX";

/* Shared with the process that asks. */
static struct {
	bool hangs;
	bool exists;
	unsigned int asked;
	unsigned int asked_by_loop; /* of these, while it hangs: a loop that does so would hang */
	unsigned int hanging;	    /* processes that wait for it */
	uid_t as;
} *database;

/* Does not return in another process than the loop's while the database hangs. */
static void hang(void)
{
	database->asked_by_loop += database->hangs && getpid() == loop;
	database->hanging += database->hangs && getpid() != loop;
	while (database->hangs && getpid() != loop)
		(void)pause();
}

/* The host's database of groups, in place of the C library's. */
struct group *getgrnam(const char *name)
{
	static struct group group = {.gr_gid = APPROVERS};

	database->asked++;
	database->as = geteuid();
	hang();
	return database->exists && strcmp(name, APPROVE_GROUP) == 0 ? &group : NULL;
}

/* The file system that a log is on, which `hangs` as well. */
int mkdir(const char *path, mode_t mode)
{
	if (!database || strncmp(path, log_directory, strlen(log_directory)) != 0)
		return mkdirat(AT_FDCWD, path, mode);
	database->asked++;
	hang();
	return mkdirat(AT_FDCWD, path, mode);
}

static void on_flush(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	(void)context;
}

static void busy(struct daemon *daemon)
{
	assert_ptr_equal(daemon, of);
}

static int setup(void **state)
{
	(void)state;
	of = calloc(1, sizeof(*of));
	if (!of || !mkdtemp(log_directory))
		return -1;
	of->busy = busy;
	of->base = event_base_new();
	of->flush_timer = evtimer_new(of->base, on_flush, of);
	if (logs_new(NULL, of->base, &of->logs, NULL) < 0 ||
	    logs_get(of->logs, log_directory, &of->log, NULL) < 0)
		return -1;
	loop = getpid();
	database = mmap(NULL, sizeof(*database), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	return database == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
	char command[80];

	(void)state;
	errands_forget();
	logs_free(of->logs);
	event_free(of->flush_timer);
	event_base_free(of->base);
	names_release(&of->names);
	free(of);
	while (waitpid(-1, NULL, 0) > 0)
		;
	snprintf(command, sizeof(command), "rm -rf %s", log_directory);
	return system(command);
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

/* The loop neither used what hangs nor waited for the process that does. */
static void assert_loop_is_free(void)
{
	assert_int_equal(database->asked_by_loop, 0);
	assert_int_equal(vain_waits, 0);
}

/* One iteration of the loop after another, none of which waits but for events. */
static void turn_until_ready(const struct connection *c)
{
	vain_waits = 0;
	while (c->ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_loop_is_free();
}

static void close_both(const struct connection *c, int client)
{
	logs_put(c->log);
	free(c->places);
	close(c->fd);
	close(client);
}

/* --- policies ----------------------------------------------------------------------------- */

#define RULES 1500
#define REF   7u

static char place[] = "/tmp/cordon-ahead-XXXXXX", big[64], bad[64];

static void write_policies(void)
{
	FILE *f;

	assert_non_null(mkdtemp(place));
	snprintf(big, sizeof(big), "%s/big.yaml", place);
	snprintf(bad, sizeof(bad), "%s/bad.yaml", place);
	f = fopen(big, "we");
	assert_non_null(f);
	fputs("version: 1\nname: big\nfiles:\n", f);
	for (int i = 0; i < RULES; i++)
		fprintf(f, "  - {allow: [read], paths: [\"/srv/%d/**/*.{txt,dat%d}\"]}\n", i, i);
	assert_int_equal(fclose(f), 0);
	f = fopen(bad, "we");
	assert_non_null(f);
	fputs("version: 1\nname: bad\nfile:\n", f);
	assert_int_equal(fclose(f), 0);
}

static void remove_policies(void)
{
	assert_int_equal(unlink(big), 0);
	assert_int_equal(unlink(bad), 0);
	assert_int_equal(rmdir(place), 0);
	strcpy(place + strlen(place) - 6, "XXXXXX");
}

static void on_policy(struct connection *c, json_t *message, struct protocol_fds *fds)
{
	assert_int_equal(fds->count, 0);
	assert_null(c->ahead);
	told++;
	dispatched += message != NULL;
}

static int ask_with_log(struct connection *c, const char *policy, json_t *log)
{
	json_t *message = good_prepare();
	struct protocol_fds fds = {};
	struct failure failure = {};
	int r;

	json_object_set_new(message, "policy", json_string(policy));
	json_object_set_new(message, "log", log);
	vain_waits = 0;
	r = ahead_start(c, &message, &fds, on_policy, &failure);
	assert_loop_is_free();
	json_decref(message);
	return r;
}

static int ask_for(struct connection *c, const char *policy)
{
	return ask_with_log(c, policy, json_null());
}

static void connect_root(struct connection *c, int *ret_client)
{
	connect_member(c, ret_client);
	c->peer = (struct peer){.ucred = {.pid = getpid()}, .root = true, .names = &of->names};
}

#endif

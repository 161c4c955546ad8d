/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Databases of users that answer, that do not exist for somebody, and that never answer, behind the
 * daemon's loop.
 */
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
#include "tests/unit/daemon/privsep/writer_fixture.h"

/*
 * What the loop may take for a turn in which somebody asks; a sanitized program's fork takes its
 * time.
 */
#define TURN_NSEC (2 * NSEC_PER_SEC)
#define MEMBER	  54321
/* Who has an account everywhere. */
#define NOBODY	  65534
#define APPROVERS 54322

static struct daemon *of;
static unsigned int told, dispatched;
static pid_t loop;
static char log_directory[] = "/tmp/cordon-ahead-log-XXXXXX";

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

/* The file system that a log is on, which `hangs` as well. */
int access(const char *path, int mode)
{
	if (strncmp(path, log_directory, strlen(log_directory)) != 0)
		return faccessat(AT_FDCWD, path, mode, 0);
	database->asked++;
	if (database->hangs && getpid() == loop)
		sleep(3);
	while (database->hangs && getpid() != loop)
		(void)pause();
	return faccessat(AT_FDCWD, path, mode, 0);
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

/* *ret_took: in the loop. */
static int ask_with_log(struct connection *c, const char *policy, json_t *log, uint64_t *ret_took)
{
	json_t *message = good_prepare();
	struct protocol_fds fds = {};
	struct failure failure = {};
	uint64_t begin;
	int r;

	json_object_set_new(message, "policy", json_string(policy));
	json_object_set_new(message, "log", log);
	begin = clock_nsec(CLOCK_MONOTONIC);
	r = ahead_start(c, &message, &fds, on_policy, &failure);
	*ret_took = clock_nsec(CLOCK_MONOTONIC) - begin;
	json_decref(message);
	return r;
}

static int ask_for(struct connection *c, const char *policy, uint64_t *ret_took)
{
	return ask_with_log(c, policy, json_null(), ret_took);
}

static void connect_root(struct connection *c, int *ret_client)
{
	connect_member(c, ret_client);
	c->peer = (struct peer){.ucred = {.pid = getpid()}, .root = true, .names = &of->names};
}

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
	uint64_t begin, whole, took;
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
	assert_int_equal(ask_for(&first, big, &took), 1);
	assert_int_equal(ask_for(&second, big, &took), 1);
	assert_true(clock_nsec(CLOCK_THREAD_CPUTIME_ID) - begin < whole / 4);
	while (first.ahead || second.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_int_equal(told, 2);
	assert_int_equal(dispatched, 2);
	use = policies_find(of->policies, big, false);
	assert_ptr_equal(use, resumed);
	policies_put(of->policies, use);
	assert_int_equal(ask_for(&first, big, &took), 0);
	close_both(&first, clients[0]);
	close_both(&second, clients[1]);
	policies_free(of->policies);
	of->policies = NULL;
	remove_policies();
}

/* Whoever has it compiled leaves: who waits for it has it compiled instead. */
static void test_left_while_compiled(void **state)
{
	const char *const none[] = {NULL};
	const struct policy_use *resumed = NULL;
	struct compiled_policy *compiled = NULL;
	struct connection first, second;
	uint64_t took;
	int clients[2];

	(void)state;
	write_policies();
	assert_int_equal(policies_new(NULL, none, -1, &of->policies), 0);
	assert_int_equal(policies_compile(of->policies, big, false, &compiled), 0);
	assert_int_equal(policies_resume(of->policies, compiled, REF, &resumed), 0);
	connect_root(&first, &clients[0]);
	connect_root(&second, &clients[1]);
	assert_int_equal(ask_for(&first, big, &took), 1);
	assert_int_equal(ask_for(&second, big, &took), 1);
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
	uint64_t took;
	int client;

	(void)state;
	write_policies();
	assert_int_equal(policies_new(NULL, none, -1, &of->policies), 0);
	connect_root(&c, &client);
	assert_int_equal(ask_for(&c, bad, &took), 1);
	while (c.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
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
	while (c.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
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
	uint64_t took;
	int client;

	(void)state;
	connect_resident(&c, &client);
	assert_int_equal(ask_for(&c, big, &took), 1);
	while (c.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_int_equal(ask_for(&c, big, &took), 0);
	assert_int_equal(dispatched, 1);

	kill_writer();
	assert_int_equal(ask_for(&c, big, &took), 1);
	while (c.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_int_equal(dispatched, 2);

	/* Whoever leaves waits no more. */
	kill_writer();
	assert_int_equal(ask_for(&c, big, &took), 1);
	ahead_cancel(&c);

	snprintf(aside, sizeof(aside), "%s/log", place);
	assert_int_equal(rename(log_directory, aside), 0);
	close(open(log_directory, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	assert_int_equal(ask_for(&c, big, &took), 1);
	while (c.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
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
	uint64_t took;
	int client;

	(void)state;
	connect_resident(&c, &client);
	database->hangs = false;
	database->asked = 0;
	assert_int_equal(ask_with_log(&c, big, json_string(log_directory), &took), 1);
	while (c.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_int_equal(dispatched, 1);
	assert_int_equal(database->asked, 1);

	database->hangs = true;
	assert_int_equal(ask_with_log(&c, big, json_string(log_directory), &took), 1);
	assert_true(took < TURN_NSEC);
	ahead_cancel(&c);
	assert_int_equal(ask_with_log(&c, big, json_string(log_directory), &took), 1);
	while (c.ahead) {
		uint64_t begin = clock_nsec(CLOCK_MONOTONIC);

		assert_int_equal(event_base_loop(of->base, EVLOOP_NONBLOCK), 0);
		assert_true(clock_nsec(CLOCK_MONOTONIC) - begin < TURN_NSEC);
		usleep(10000);
	}
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
	while (c.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_int_equal(told, 1);
	assert_int_equal(dispatched, 1);
	names_release(&of->names);
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
	while (c.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_int_equal(dispatched, 1);
	use = policies_find(of->policies, big, false);
	assert_ptr_equal(use, resumed);
	policies_put(of->policies, use);

	write_config(config, big, bad);
	assert_int_equal(ask_to_reload(&c), 1);
	while (c.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_int_equal(told, 2);
	assert_int_equal(dispatched, 1);
	assert_true(recv(client, answer, sizeof(answer) - 1, MSG_DONTWAIT) > 0);
	assert_non_null(strstr(answer, "bad.yaml:3:1"));

	/* Twice: the second takes the place of the first. */
	executors_reload(&x);
	assert_non_null(x.reloading);
	executors_reload(&x);
	while (x.reloading)
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
	uint64_t took;
	int client;

	(void)state;
	write_policies();
	open_approvals(directory);
	assert_int_equal(policies_new(NULL, none, -1, &of->policies), 0);
	assert_int_equal(policies_compile(of->policies, big, false, &compiled), 0);
	assert_int_equal(policies_resume(of->policies, compiled, REF, &resumed), 0);
	assert_true(must_be_compared(resumed));
	connect_root(&c, &client);
	assert_int_equal(ask_for(&c, big, &took), 1);
	while (c.ahead)
		assert_int_equal(event_base_loop(of->base, EVLOOP_ONCE), 0);
	assert_int_equal(dispatched, 1);
	assert_false(must_be_compared(resumed));
	assert_int_equal(ask_for(&c, big, &took), 0);
	close_both(&c, client);
	remove_approvals(directory);
	policies_free(of->policies);
	of->policies = NULL;
	remove_policies();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answered),	cmocka_unit_test(test_missing),
		cmocka_unit_test(test_hangs),		cmocka_unit_test(test_left),
		cmocka_unit_test(test_compiled),	cmocka_unit_test(test_left_while_compiled),
		cmocka_unit_test(test_bad_policy),	cmocka_unit_test(test_applied),
		cmocka_unit_test(test_reloaded),	cmocka_unit_test(test_writer_killed),
		cmocka_unit_test(test_named_log),	cmocka_unit_test(test_compared),
		cmocka_unit_test(test_left_for_writer),
	};

	writer_fixture_main(argc, argv);
	return cmocka_run_group_tests(tests, setup, teardown);
}

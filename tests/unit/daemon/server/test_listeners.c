/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who gets in by which socket, and what is answered there, with nothing in the kernel behind it. In
 * a mount namespace of its own, where /run is empty and /etc/group has the groups; as root, and
 * without that there is nothing to let in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/io.h"
#include "control/protocol.h"
#include "daemon/privsep/reader_process.h"
#include "daemon/dns/dns_stub_parts.h"
#include "daemon/server/server.h"
#include "kernel/handle.h"
#include "tests/unit/daemon/privsep/writer_fixture.h"

#define GROUPS	     "root:x:0:\ncordon:x:64001:\ncordon-watch:x:64002:\ncordon-who:x:64004:\n"
#define RUNNERS	     64001
#define WATCHERS     64002
#define PROXIES	     64004
#define STRANGERS    64003
#define SOMEBODY     64100
#define PATIENCE_SEC 20

static struct daemon *daemon_of_test;
static unsigned int idles;

static void on_idle(struct daemon *daemon)
{
	(void)daemon;
	idles++;
}

static void on_say(const char *line)
{
	print_message("%s\n", line);
}

static void make_world(void)
{
	int fd = open("/tmp/cordon-test-group", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, GROUPS, strlen(GROUPS)), 0);
	close(fd);
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mount("none", "/run", "tmpfs", 0, "mode=755"), 0);
	assert_int_equal(mkdir(PROTOCOL_DIRECTORY, 0755), 0);
	assert_int_equal(mount("/tmp/cordon-test-group", "/etc/group", NULL, MS_BIND, NULL), 0);
	assert_int_equal(unlink("/tmp/cordon-test-group"), 0);
}

/* What `status` looks at: counters that stand at 7, a log, a kernel that lacks something. */
static void fill_daemon(struct daemon *daemon)
{
	static char gap[] = "pids controller: `limits: pids` is not applied", *gaps[] = {gap, NULL};
	const char *const directories[] = {NULL};
	struct failure failure = {};

	daemon->enforcement = calloc(1, sizeof(struct enforcement));
	daemon->dns = calloc(1, sizeof(struct dns_stub));
	assert_non_null(daemon->enforcement);
	assert_non_null(daemon->dns);
	daemon->enforcement->counters = calloc(CORDON_COUNTER_SLOTS, sizeof(__u64));
	assert_non_null(daemon->enforcement->counters);
	daemon->enforcement->counters[CORDON_COUNTER_NO_POLICY] = 7;
	daemon->totals.started = 5;
	daemon->gaps = gaps;
	assert_int_equal(policies_new(daemon->enforcement, directories, -1, &daemon->policies), 0);
	assert_int_equal(mkdir("/run/log", 0750), 0);
	if (logs_new(NULL, daemon->base, &daemon->logs, &failure) < 0 ||
	    logs_get(daemon->logs, "/run/log", &daemon->log, &failure) < 0)
		fail_msg("%s", failure.text);
}

static void empty_daemon(struct daemon *daemon)
{
	logs_put(daemon->log);
	logs_free(daemon->logs);
	policies_free(daemon->policies);
	free(daemon->dns);
	free(daemon->enforcement->counters);
	free(daemon->enforcement);
}

/* As the daemon's start does. */
static void learn_groups(void)
{
	char *const questions[] = {(char *)"@" PEER_GROUP, (char *)"@" PEER_STATUS_GROUP,
				   (char *)"@" PEER_WHO_GROUP, NULL};
	_cleanup_(freep) char *data = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&data, &size);

	assert_non_null(to);
	names_look_up(questions, to);
	assert_int_equal(fclose(to), 0);
	assert_int_equal(names_learn(&daemon_of_test->names, questions, data, size, 0), 0);
}

static int start(void **state)
{
	struct failure failure = {};

	(void)state;
	if (geteuid() != 0) {
		print_message("only root can be somebody else: nothing is looked at\n");
		return 0;
	}
	make_world();
	daemon_of_test = calloc(1, sizeof(*daemon_of_test));
	assert_non_null(daemon_of_test);
	daemon_of_test->base = event_base_new();
	daemon_of_test->idle = on_idle;
	daemon_of_test->say = on_say;
	fill_daemon(daemon_of_test);
	learn_groups();
	if (server_start(daemon_of_test, &daemon_of_test->server, &failure) < 0)
		fail_msg("%s", failure.text);
	return 0;
}

static int stop(void **state)
{
	struct stat status;

	(void)state;
	if (!daemon_of_test)
		return 0;
	server_free(daemon_of_test->server);
	names_release(&daemon_of_test->names);
	/* The names go with those who answered to them. */
	assert_int_equal(stat(PROTOCOL_SOCKET, &status), -1);
	assert_int_equal(stat(PROTOCOL_STATUS_SOCKET, &status), -1);
	assert_int_equal(stat(PROTOCOL_WHO_SOCKET, &status), -1);
	empty_daemon(daemon_of_test);
	event_base_free(daemon_of_test->base);
	free(daemon_of_test);
	return 0;
}

/* -errno where nobody lets it in. */
static int connect_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -errno;
}

/* In the server's process nobody else turns the loop. */
static void turn_until_readable(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	for (int i = 0; i < PATIENCE_SEC * 100; i++) {
		event_base_loop(daemon_of_test->base, EVLOOP_NONBLOCK);
		if (poll(&wait, 1, 10) > 0)
			return;
	}
	fail_msg("no answer");
}

/* The name of the errno that is answered, or "": as long as the next answer. */
static const char *answer_of(int fd)
{
	static char error[32];
	struct failure failure = {};
	struct protocol_fds fds;
	json_t *message;
	const char *name;

	if (protocol_receive(fd, &message, &fds, NULL, &failure) < 0)
		return "gone";
	name = json_string_value(json_object_get(message, "error"));
	snprintf(error, sizeof(error), "%s", name ? name : "");
	json_decref(message);
	return error;
}

static void send_text(int fd, const char *request)
{
	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
}

/* What root is told who asks this there. */
static const char *asked(const char *path, const char *request)
{
	_cleanup_(closep) int fd = connect_at(path);

	assert_true(fd >= 0);
	send_text(fd, request);
	turn_until_readable(fd);
	return answer_of(fd);
}

/* The same of a user of this group; "EACCES" and so on where that one does not get in. */
static const char *asked_by(gid_t gid, const char *path, const char *request)
{
	static char text[32];
	int fds[2], status, fd;
	ssize_t size;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const char *answer = "?";

		if (setgroups(0, NULL) == 0 && setgid(gid) == 0 && setuid(SOMEBODY) == 0) {
			fd = connect_at(path);
			answer = fd < 0 ? protocol_errno_name(-fd) : NULL;
			if (fd >= 0) {
				(void)!send(fd, request, strlen(request), MSG_NOSIGNAL);
				answer = answer_of(fd);
			}
		}
		_exit(write(fds[1], answer, strlen(answer)) < 0);
	}
	close(fds[1]);
	turn_until_readable(fds[0]);
	size = read(fds[0], text, sizeof(text) - 1);
	assert_true(size >= 0);
	text[size] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return text;
}

static const char ps[] = "{\"op\":\"ps\"}";
static const char who[] = "{\"op\":\"who\",\"cgroup\":1}";
static const char halt[] = "{\"op\":\"stop\",\"force\":true}";
static const char hello[] = "{\"op\":\"hello\",\"version\":2}";
/* Allowed, and then found to be wrong. */
static const char status_and_more[] = "{\"op\":\"status\",\"more\":1}";

static void test_modes(void **state)
{
	struct stat status;

	(void)state;
	if (!daemon_of_test)
		return;
	assert_int_equal(stat(PROTOCOL_SOCKET, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0660);
	assert_int_equal(status.st_gid, RUNNERS);
	assert_int_equal(stat(PROTOCOL_STATUS_SOCKET, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0660);
	assert_int_equal(status.st_gid, WATCHERS);
	assert_int_equal(stat(PROTOCOL_WHO_SOCKET, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0660);
	assert_int_equal(status.st_gid, PROXIES);
}

/* Root is of group 0. Where nobody has what a proxy asks about, that is the answer. */
static const struct question {
	gid_t group;
	const char *path, *request, *answer;
} questions[] = {
	{0, PROTOCOL_SOCKET, ps, ""},
	{0, PROTOCOL_STATUS_SOCKET, status_and_more, "EINVAL"},
	{0, PROTOCOL_STATUS_SOCKET, ps, "EPERM"},
	{0, PROTOCOL_STATUS_SOCKET, hello, "EPERM"},
	{0, PROTOCOL_STATUS_SOCKET, halt, "EPERM"},
	{0, PROTOCOL_WHO_SOCKET, who, "ENOENT"},
	{0, PROTOCOL_WHO_SOCKET, ps, "EPERM"},
	{0, PROTOCOL_WHO_SOCKET, status_and_more, "EPERM"},
	{0, PROTOCOL_WHO_SOCKET, halt, "EPERM"},
	{WATCHERS, PROTOCOL_STATUS_SOCKET, status_and_more, "EINVAL"},
	{WATCHERS, PROTOCOL_STATUS_SOCKET, ps, "EPERM"},
	{WATCHERS, PROTOCOL_STATUS_SOCKET, hello, "EPERM"},
	{WATCHERS, PROTOCOL_STATUS_SOCKET, who, "EPERM"},
	{WATCHERS, PROTOCOL_WHO_SOCKET, who, "EACCES"},
	{WATCHERS, PROTOCOL_SOCKET, ps, "EACCES"},
	{PROXIES, PROTOCOL_WHO_SOCKET, who, "ENOENT"},
	{PROXIES, PROTOCOL_WHO_SOCKET, ps, "EPERM"},
	{PROXIES, PROTOCOL_WHO_SOCKET, hello, "EPERM"},
	{PROXIES, PROTOCOL_STATUS_SOCKET, who, "EACCES"},
	{PROXIES, PROTOCOL_SOCKET, who, "EACCES"},
	{RUNNERS, PROTOCOL_SOCKET, ps, ""},
	{RUNNERS, PROTOCOL_SOCKET, hello, ""},
	{RUNNERS, PROTOCOL_STATUS_SOCKET, status_and_more, "EACCES"},
	{RUNNERS, PROTOCOL_WHO_SOCKET, who, "EACCES"},
	{STRANGERS, PROTOCOL_STATUS_SOCKET, status_and_more, "EACCES"},
	{STRANGERS, PROTOCOL_WHO_SOCKET, who, "EACCES"},
};

static void test_questions(void **state)
{
	(void)state;
	if (!daemon_of_test)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		const struct question *q = &questions[i];
		const char *answer = q->group ? asked_by(q->group, q->path, q->request)
					      : asked(q->path, q->request);

		if (strcmp(answer, q->answer) != 0)
			fail_msg("%u at %s, %s: \"%s\", not \"%s\"", q->group, q->path, q->request,
				 answer, q->answer);
	}
	assert_false(server_stop_requested(daemon_of_test->server));
}

/* Even where somebody opens a socket to all, the daemon knows who asks. */
static void test_opened(void **state)
{
	(void)state;
	if (!daemon_of_test)
		return;
	assert_int_equal(chmod(PROTOCOL_STATUS_SOCKET, 0666), 0);
	assert_int_equal(chmod(PROTOCOL_WHO_SOCKET, 0666), 0);
	assert_string_equal(asked_by(STRANGERS, PROTOCOL_STATUS_SOCKET, status_and_more), "EPERM");
	assert_string_equal(asked_by(STRANGERS, PROTOCOL_WHO_SOCKET, who), "EPERM");
	assert_int_equal(chmod(PROTOCOL_WHO_SOCKET, 0660), 0);
	assert_int_equal(chmod(PROTOCOL_STATUS_SOCKET, 0660), 0);
}

static json_int_t number_in(const json_t *status, const char *object, const char *key)
{
	const json_t *value = json_object_get(json_object_get(status, object), key);

	if (!json_is_integer(value))
		fail_msg("status has no number %s in %s", key, object);
	return json_integer_value(value);
}

/* All that docs/protocol.md promises to whoever watches, from the daemon's own hand. */
static void test_status(void **state)
{
	_cleanup_(closep) int fd = -1;
	struct protocol_fds fds;
	struct failure failure = {};
	json_t *status;

	(void)state;
	if (!daemon_of_test)
		return;
	fd = connect_at(PROTOCOL_STATUS_SOCKET);
	assert_true(fd >= 0);
	send_text(fd, "{\"op\":\"status\"}");
	turn_until_readable(fd);
	assert_int_equal(protocol_receive(fd, &status, &fds, NULL, &failure), 0);
	assert_true(json_is_true(json_object_get(status, "ok")));
	assert_int_equal(number_in(status, "counters", "no_policy"), 7);
	assert_int_equal(number_in(status, "totals", "started"), 5);
	assert_int_equal(number_in(status, "totals", "missing_events"), 0);
	assert_int_equal(
		json_object_size(json_object_get(json_object_get(status, "totals"), "ended")),
		TOTALS_CAUSES);
	assert_true(number_in(status, "log_figures", "free_bytes") > 0);
	assert_int_equal(number_in(status, "log_figures", "sealed"), 0);
	assert_true(number_in(status, "turns", "total_nsec") > 0);
	assert_int_equal(json_array_size(json_object_get(status, "gaps")), 1);
	json_decref(status);
}

/* Those who look are counted apart, and a daemon with nobody else may leave. */
static void test_crowd(void **state)
{
	int fds[PROTOCOL_MAX_LOOKERS], more;
	unsigned int idles_before;

	(void)state;
	if (!daemon_of_test)
		return;
	event_base_loop(daemon_of_test->base, EVLOOP_NONBLOCK);
	for (size_t i = 0; i < PROTOCOL_MAX_LOOKERS; i++) {
		fds[i] = connect_at(PROTOCOL_STATUS_SOCKET);
		assert_true(fds[i] >= 0);
	}
	more = connect_at(PROTOCOL_STATUS_SOCKET);
	turn_until_readable(more);
	assert_string_equal(answer_of(more), "EUSERS");
	close(more);
	assert_int_equal(server_connections(daemon_of_test->server), 0);
	assert_string_equal(asked(PROTOCOL_SOCKET, ps), "");
	event_base_loop(daemon_of_test->base, EVLOOP_NONBLOCK);
	idles_before = idles;
	for (size_t i = 0; i < PROTOCOL_MAX_LOOKERS; i++)
		close(fds[i]);
	event_base_loop(daemon_of_test->base, EVLOOP_NONBLOCK);
	assert_int_equal(idles, idles_before);
	assert_string_equal(asked(PROTOCOL_STATUS_SOCKET, status_and_more), "EINVAL");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),  cmocka_unit_test(test_questions),
		cmocka_unit_test(test_opened), cmocka_unit_test(test_status),
		cmocka_unit_test(test_crowd),
	};

	writer_fixture_main(argc, argv);
	/* What the server starts to read for it is this program. */
	if (argc == 3 && strcmp(argv[2], READER_REQUESTS) == 0)
		_exit(reader_process());
	return cmocka_run_group_tests(tests, start, stop);
}

// SPDX-License-Identifier: Apache-2.0
/* What the shipper can still do, and what not, each in a process that has entered its sandbox. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fleet/ship/ship_options.h"
#include "fleet/ship/ship_sandbox.h"

struct place {
	char top[64], log[96], state[96], given[96], other[96];
	int listener, other_listener;
	uint16_t port, other_port;
	int landlock; /* version; less than 1: none */
};

static struct place place;

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	close(fd);
}

static int listen_somewhere(uint16_t *ret_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

static int setup(void **state)
{
	char path[128];

	(void)state;
	strcpy(place.top, "/tmp/cordon-sandbox-XXXXXX");
	assert_non_null(mkdtemp(place.top));
	snprintf(place.log, sizeof(place.log), "%s/log", place.top);
	snprintf(place.state, sizeof(place.state), "%s/state", place.top);
	snprintf(place.given, sizeof(place.given), "%s/given", place.top);
	snprintf(place.other, sizeof(place.other), "%s/other", place.top);
	assert_int_equal(mkdir(place.log, 0755), 0);
	assert_int_equal(mkdir(place.state, 0755), 0);
	make_file(place.given);
	make_file(place.other);
	snprintf(path, sizeof(path), "%s/current.jsonl", place.log);
	make_file(path);
	place.listener = listen_somewhere(&place.port);
	place.other_listener = listen_somewhere(&place.other_port);
	place.landlock =
		(int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", place.top);
	close(place.listener);
	close(place.other_listener);
	return system(command);
}

/* What an attempt gives in the sandbox: 0, or an errno. */
static int inside(int (*attempt)(void))
{
	const char *const files[] = {place.given, NULL};
	const struct ship_sandbox sandbox = {
		.log = place.log, .state = place.state, .files = files, .port = place.port};
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct failure failure = {};

		if (ship_sandbox_enter(&sandbox, &failure) < 0) {
			fprintf(stderr, "%s\n", failure.text);
			_exit(200);
		}
		errno = 0;
		_exit(attempt() < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status))
		fail_msg("ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static int open_in(const char *directory, const char *name, int flags)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return open(path, flags | O_CLOEXEC, 0600);
}

static int read_log(void)
{
	return open_in(place.log, "current.jsonl", O_RDONLY);
}

static int write_log(void)
{
	return open_in(place.log, "current.jsonl", O_WRONLY);
}

static int make_in_log(void)
{
	return open_in(place.log, "new", O_WRONLY | O_CREAT);
}

static int write_state(void)
{
	char from[160], to[160];

	if (open_in(place.state, "state.new", O_WRONLY | O_CREAT | O_TRUNC) < 0)
		return -1;
	snprintf(from, sizeof(from), "%s/state.new", place.state);
	snprintf(to, sizeof(to), "%s/state", place.state);
	return rename(from, to);
}

static int read_given(void)
{
	return open(place.given, O_RDONLY | O_CLOEXEC);
}

static int read_other(void)
{
	return open(place.other, O_RDONLY | O_CLOEXEC);
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof(address));
}

static int connect_there(void)
{
	return connect_to(place.port);
}

static int connect_elsewhere(void)
{
	return connect_to(place.other_port);
}

static int run_program(void)
{
	return execl("/bin/true", "true", (char *)NULL);
}

static int fork_process(void)
{
	return (int)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void *nothing(void *argument)
{
	return argument;
}

static int start_thread(void)
{
	pthread_t thread;
	int r = pthread_create(&thread, NULL, nothing, NULL);

	errno = r;
	return r ? -1 : pthread_join(thread, NULL);
}

static int map_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}

static int change_mode(void)
{
	return chmod(place.state, 0777);
}

static int trace_parent(void)
{
	return ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) < 0 ? -1 : 0;
}

static int raw_socket(void)
{
	return socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
}

static void still_can(void **state)
{
	(void)state;
	assert_int_equal(inside(read_log), 0);
	assert_int_equal(inside(write_state), 0);
	assert_int_equal(inside(read_given), 0);
	assert_int_equal(inside(connect_there), 0);
	assert_int_equal(inside(start_thread), 0);
}

static void can_not(void **state)
{
	(void)state;
	assert_int_equal(inside(run_program), EPERM);
	assert_int_equal(inside(fork_process), EPERM);
	assert_int_equal(inside(map_code), EPERM);
	assert_int_equal(inside(change_mode), EPERM);
	assert_int_equal(inside(trace_parent), EPERM);
	assert_int_equal(inside(raw_socket), EPERM);
}

/* Where the kernel has Landlock; what it lacks is said. */
static void can_not_reach(void **state)
{
	(void)state;
	if (place.landlock < 1) {
		print_message("no Landlock on this kernel: files are not restricted\n");
		return;
	}
	assert_int_equal(inside(write_log), EACCES);
	assert_int_equal(inside(make_in_log), EACCES);
	assert_int_equal(inside(read_other), EACCES);
	if (place.landlock < 4)
		print_message("Landlock %d: ports are not restricted\n", place.landlock);
	else
		assert_int_equal(inside(connect_elsewhere), EACCES);
}

static void ports(void **state)
{
	static const struct {
		const char *url;
		uint16_t port; /* 0: refused */
		bool otlp;
	} urls[] = {
		{"https://collector/v1/logs", 443, true},
		{"http://collector", 80, true},
		{"https://collector:4318/v1/logs", 4318, true},
		{"https://u:p@[::1]:4318/v1/logs:x@y", 4318, true},
		{"https://[::1]/v1:5/logs", 443, true},
		{"https://collector:4318x/", 0, true},
		{"https:///v1/logs", 0, true},
		{"nats://collector:4318", 0, true},
		{"https://collector:4318/v1/logs", 0},
		{"nats://localhost", 4222},
		{"nats://localhost:4333", 4333},
		{"tls://user:pass@[::1]:5000", 5000},
		{"nats://[::1]", 4222},
		{"nats://a:0", 0},
		{"nats://a:65536", 0},
		{"nats://a:x", 0},
		{"nats://:4222", 0},
		{"nats://", 0},
		{"http://a:80", 0},
		{"localhost:4222", 0},
		{"nats://a:1,nats://b:2", 0},
		{"nats://[::1", 0},
		{"", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		uint16_t port = 0;
		int r = ship_options_port(urls[i].url, urls[i].otlp, &port);

		if ((r == 0) != (urls[i].port != 0) || port != urls[i].port)
			fail_msg("%s: %d, %u", urls[i].url, r, port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(still_can),
		cmocka_unit_test(can_not),
		cmocka_unit_test(can_not_reach),
		cmocka_unit_test(ports),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

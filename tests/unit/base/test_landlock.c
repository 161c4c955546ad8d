/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock as cordon's own processes use it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/landlock.h"

/* Nothing listens there: refused by the kernel's TCP where Landlock lets it get so far. */
#define PORT_ALLOWED 1
#define PORT_OTHER   2

static char top[] = "/tmp/test-landlock-XXXXXX";

static int attempt(const char *name, int flags)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int attempt_connect(uint16_t port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	_cleanup_(closep) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

static int open_below(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return open(path, O_PATH | O_CLOEXEC);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(top) || chdir(top) < 0 || mkdir("read", 0700) < 0 || mkdir("write", 0700) < 0)
		return -1;
	return attempt("read/file", O_CREAT | O_WRONLY) ||
	       attempt("write/file", O_CREAT | O_WRONLY) || attempt("one", O_CREAT | O_WRONLY) ||
	       attempt("other", O_CREAT | O_WRONLY);
}

static int tear_down(void **state)
{
	char command[sizeof(top) + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static int enter(bool ports)
{
	_cleanup_(landlock_closep) struct landlock landlock = {.fd = -1};
	_cleanup_(closep) int reading = open_below("read");
	_cleanup_(closep) int writing = open_below("write");
	_cleanup_(closep) int one = open_below("one");
	int r = landlock_new(ports, &landlock);

	if (r == 0)
		r = landlock_allow_beneath(&landlock, reading, LANDLOCK_READING);
	if (r == 0)
		r = landlock_allow_beneath(&landlock, writing, landlock_writing(&landlock));
	/* Of a file what a directory has besides is left out, which the kernel would refuse. */
	if (r == 0)
		r = landlock_allow_beneath(&landlock, one, LANDLOCK_READING);
	if (r == 0)
		r = landlock_allow_connect(&landlock, PORT_ALLOWED);
	if (r == 0)
		r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return r < 0 ? r : landlock_enter(&landlock);
}

static int inside(void)
{
	struct landlock landlock = {.fd = -1};
	int refused, refused_ports;

	if (landlock_new(true, &landlock) < 0)
		return 1;
	/* Without Landlock, nothing is refused, and nothing fails. */
	refused = landlock.version >= 1 ? -EACCES : 0;
	refused_ports = landlock.ports ? -EACCES : -ECONNREFUSED;
	landlock_closep(&landlock);
	if (enter(true) < 0)
		return 2;
	if (attempt("read/file", O_RDONLY) != 0 || attempt("write/file", O_RDWR) != 0 ||
	    attempt("write/new", O_CREAT | O_EXCL | O_WRONLY) != 0 || attempt("one", O_RDONLY) != 0)
		return 3;
	if (attempt("read/file", O_WRONLY) != refused || attempt("one", O_WRONLY) != refused ||
	    attempt("other", O_RDONLY) != refused ||
	    attempt("read/new", O_CREAT | O_EXCL | O_WRONLY) != refused)
		return 4;
	if (attempt_connect(PORT_ALLOWED) != -ECONNREFUSED)
		return 5;
	return attempt_connect(PORT_OTHER) == refused_ports ? 0 : 6;
}

static int only_files(void)
{
	if (enter(false) < 0)
		return 1;
	return attempt_connect(PORT_OTHER) == -ECONNREFUSED ? 0 : 2;
}

static int status_of(int (*body)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(body());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_inside(void **state)
{
	(void)state;
	assert_int_equal(status_of(inside), 0);
}

static void test_only_files(void **state)
{
	(void)state;
	assert_int_equal(status_of(only_files), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_only_files),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Standard streams of a command: files, pipes, terminals. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/streams.h"

/* Standard streams belong to the test's runner: each case has its own in a process of its own. */
static void in_child(void (*test)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		test();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			_exit(__LINE__ & 0x7f ? __LINE__ & 0x7f : 1);                              \
	} while (0)

static void use(int in, int out)
{
	MUST(dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2);
}

static void pipes(void)
{
	int in[2], out[2], own[STREAM_COUNT];
	char byte;

	MUST(pipe(in) == 0 && pipe(out) == 0);
	use(in[0], out[1]);
	streams_open(own);
	for (int fd = 0; fd < STREAM_COUNT; fd++) {
		MUST(own[fd] > 2 && (fcntl(own[fd], F_GETFD) & FD_CLOEXEC));
		MUST(((fcntl(own[fd], F_GETFL) ^ fcntl(fd, F_GETFL)) & (O_ACCMODE | O_NONBLOCK)) ==
		     0);
		MUST(fcntl(own[fd], F_SETFL, O_NONBLOCK) == 0);
		MUST(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	}
	MUST(write(in[1], "x", 1) == 1 && read(own[0], &byte, 1) == 1 && byte == 'x');
	MUST(write(own[2], "y", 1) == 1 && read(out[0], &byte, 1) == 1 && byte == 'y');
	streams_close(own);
	MUST(own[0] == -1 && own[1] == -1 && own[2] == -1);
}

static void test_pipes(void **state)
{
	(void)state;
	in_child(pipes);
}

static void files(void)
{
	char name[] = "/tmp/streamsXXXXXX", byte;
	int file = mkstemp(name), in, own[STREAM_COUNT];

	MUST(file >= 0 && write(file, "abc", 3) == 3);
	in = open(name, O_RDONLY);
	MUST(in >= 0 && unlink(name) == 0 && lseek(in, 1, SEEK_SET) == 1);
	use(in, file);
	streams_open(own);
	/* Read only: a place of its own, from where the caller stands. Written to: shared. */
	MUST(own[0] > 2 && own[1] == -1 && own[2] == -1);
	MUST(!streams_share_place(0, own) && !streams_share_place(1, own));
	MUST(read(own[0], &byte, 1) == 1 && byte == 'b');
	MUST(lseek(own[0], 0, SEEK_SET) == 0 && lseek(0, 0, SEEK_CUR) == 1);
	streams_close(own);
	MUST(streams_share_place(0, own) && !streams_share_place(1, own));
}

static void test_files(void **state)
{
	(void)state;
	in_child(files);
}

static void shared(void)
{
	int pair[2], nothing = open("/dev/null", O_RDWR), own[STREAM_COUNT];
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && nothing >= 0 && master >= 0);
	MUST(dup2(pair[0], 0) == 0 && dup2(nothing, 1) == 1 && dup2(master, 2) == 2);
	streams_open(own);
	MUST(own[0] == -1 && own[1] == -1 && own[2] == -1 && !streams_share_place(0, own));
	/* What only keeps the number taken is nobody's stream; nor is what is not there. */
	MUST(pipe2(pair, O_CLOEXEC) == 0 && dup3(pair[0], 0, O_CLOEXEC) == 0 && close(1) == 0);
	streams_open(own);
	MUST(own[0] == -1 && own[1] == -1);
}

static void test_shared(void **state)
{
	(void)state;
	in_child(shared);
}

static int terminal_of_own(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	MUST(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0 && setsid() > 0);
	slave = open(ptsname(master), O_RDWR);
	MUST(slave >= 0 && tcgetsid(slave) == getsid(0));
	return slave;
}

/* The session's leader hangs its terminal up by leaving it: as the child that it is for. */
static void leave_as_child(void (*test)(void))
{
	pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (pid == 0) {
		test();
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

static void leaves(void)
{
	pid_t group = getpgrp();

	MUST(open("/dev/tty", O_RDWR) >= 0);
	MUST(streams_leave_terminal() == 0);
	MUST(open("/dev/tty", O_RDWR) < 0 && errno == ENXIO);
	MUST(getpgrp() == group && getsid(0) != getpid());
	/* Nothing to be left any more. */
	MUST(streams_leave_terminal() == 0 && getsid(0) != getpid());
}

static void off_terminal(void)
{
	int nothing = open("/dev/null", O_RDWR);

	terminal_of_own();
	use(nothing, nothing);
	leave_as_child(leaves);
}

static void test_leaves_terminal(void **state)
{
	(void)state;
	in_child(off_terminal);
}

static void appended_to(void)
{
	char name[] = "/tmp/streamsXXXXXX";
	int file = mkstemp(name), log = open(name, O_WRONLY | O_APPEND), ends[2];
	int read_only = open(name, O_RDONLY | O_APPEND);

	MUST(file >= 0 && log >= 0 && read_only >= 0 && unlink(name) == 0 && pipe(ends) == 0);
	use(read_only, file);
	MUST(!streams_append());
	MUST(fcntl(ends[1], F_SETFL, O_APPEND) == 0);
	use(read_only, ends[1]);
	MUST(!streams_append());
	MUST(dup2(log, 2) == 2);
	MUST(streams_append());
}

static void test_appends(void **state)
{
	(void)state;
	in_child(appended_to);
}

static void stays(void)
{
	MUST(streams_leave_terminal() == 0);
	MUST(open("/dev/tty", O_RDWR) >= 0);
}

static void on_terminal(void)
{
	int slave = terminal_of_own(), nothing = open("/dev/null", O_RDWR), own[STREAM_COUNT];

	use(nothing, slave);
	leave_as_child(stays);
	streams_open(own);
	MUST(own[0] == -1 && own[1] > 2 && isatty(own[1]) && own[2] > 2);
}

static void test_keeps_terminal(void **state)
{
	(void)state;
	in_child(on_terminal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipes),	       cmocka_unit_test(test_files),
		cmocka_unit_test(test_shared),	       cmocka_unit_test(test_leaves_terminal),
		cmocka_unit_test(test_keeps_terminal), cmocka_unit_test(test_appends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

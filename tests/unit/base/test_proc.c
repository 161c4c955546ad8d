/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of a process that /proc misses for a moment, and of one that is gone. */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/proc.h"

/* --- calls that miss it -------------------------------------------------------------------- */

static int misses; /* how many look-ups are still to fail */
static int error;

static bool is_missed(const char *path)
{
	if (strncmp(path, "/proc/", 6) != 0 || misses == 0)
		return false;
	misses--;
	errno = error;
	return true;
}

/* In the place of the C library's. */
int openat(int dir_fd, const char *path, int flags, ...)
{
	return is_missed(path) ? -1 : (int)syscall(SYS_openat, dir_fd, path, flags, 0);
}

int open(const char *path, int flags, ...)
{
	return is_missed(path) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

ssize_t readlink(const char *path, char *target, size_t size)
{
	return is_missed(path) ? -1 : syscall(SYS_readlinkat, AT_FDCWD, path, target, size);
}

/* --- what comes of it ---------------------------------------------------------------------- */

static int read_of(pid_t pid)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;

	return proc_read(pid, "stat", 4096, &text, &size);
}

static int open_of(pid_t pid)
{
	int fd = proc_open(pid, "cwd", O_PATH | O_DIRECTORY);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int readlink_of(pid_t pid)
{
	char path[PATH_MAX];

	return proc_readlink(pid, "exe", path);
}

static int (*const ways[])(pid_t) = {read_of, open_of, readlink_of};
#define WAYS (sizeof(ways) / sizeof(*ways))

static void test_for_a_moment(void **state)
{
	static const int errors[] = {ENOENT, ESRCH};

	(void)state;
	for (size_t i = 0; i < WAYS * 2; i++) {
		misses = 2;
		error = errors[i / WAYS];
		assert_int_equal(ways[i % WAYS](getpid()), 0);
		assert_int_equal(misses, 0);
	}
}

/* However often it is looked for. */
static void test_for_good(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (size_t i = 0; i < WAYS; i++) {
		assert_int_equal(ways[i](pid), -ENOENT);
		misses = 1000;
		error = ESRCH;
		assert_int_equal(ways[i](getpid()), -ESRCH);
		misses = 0;
	}
}

/* Another error is told at once. */
static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < WAYS; i++) {
		misses = 1;
		error = EACCES;
		assert_int_equal(ways[i](getpid()), -EACCES);
		assert_int_equal(misses, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_for_a_moment),
		cmocka_unit_test(test_for_good),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The system call filters of cordon's own processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/call_filter.h"

/* What a child does under a filter: the number of what went wrong, 0 for nothing. */
typedef int (*under_filter)(void);

enum { NO_FAMILY = -1 };

static int status_under(const char *const *names, int family, bool threads, under_filter body)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		scmp_filter_ctx filter = NULL;
		int r = call_filter_new(names, &filter);

		if (r == 0 && family != NO_FAMILY)
			r = call_filter_allow_family(filter, family);
		if (r == 0 && threads)
			r = call_filter_allow_threads(filter);
		if (r == 0)
			r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (r == 0)
			r = seccomp_load(filter);
		/*
		 * By number: the sanitizers' _exit() makes calls of its own, which the filter
		 * refuses.
		 */
		syscall(SYS_exit_group, r < 0 ? 100 : body());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0, 0);
	return WEXITSTATUS(status);
}

/* Of calls that are made by number, as the C library may take another. */
static bool is_refused(long result)
{
	return result == -1 && errno == EPERM;
}

static long map(int protection)
{
	return syscall(SYS_mmap, NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int calls(void)
{
	long page;

	if (syscall(SYS_getpid) <= 0)
		return 1;
	if (!is_refused(syscall(SYS_getppid)))
		return 2;
	if (!is_refused(map(PROT_READ | PROT_EXEC)))
		return 3;
	page = map(PROT_READ | PROT_WRITE);
	if (page == -1)
		return 4;
	if (!is_refused(syscall(SYS_mprotect, page, 4096, PROT_READ | PROT_EXEC)))
		return 5;
	if (syscall(SYS_mprotect, page, 4096, PROT_READ) < 0)
		return 6;
	return is_refused(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0)) ? 0 : 7;
}

static void test_calls(void **state)
{
	static const char *const names[] = {"getpid", "no_such_call", "exit_group", NULL};

	(void)state;
	assert_int_equal(status_under(names, NO_FAMILY, false, calls), 0);
}

static int sockets(void)
{
	if (syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0) < 0)
		return 1;
	return is_refused(syscall(SYS_socket, AF_INET, SOCK_STREAM, 0)) ? 0 : 2;
}

static void test_family(void **state)
{
	static const char *const names[] = {"exit_group", NULL};

	(void)state;
	assert_int_equal(status_under(names, AF_UNIX, false, sockets), 0);
}

static int processes(void)
{
	struct clone_args args = {.exit_signal = SIGCHLD};

	/*
	 * That it is let through shows by the kernel's own refusal: a thread shares memory and
	 * handlers.
	 */
	if (syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0) != -1 || errno != EINVAL)
		return 1;
	if (!is_refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)))
		return 2;
	return syscall(SYS_clone3, &args, sizeof(args)) == -1 && errno == ENOSYS ? 0 : 3;
}

static void test_threads(void **state)
{
	static const char *const names[] = {"exit_group", NULL};

	(void)state;
	assert_int_equal(status_under(names, NO_FAMILY, true, processes), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_family),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

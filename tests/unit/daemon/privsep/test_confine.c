/* SPDX-License-Identifier: Apache-2.0 */
/* What a daemon can still ask of the kernel when it has given up what it has no need of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon/privsep/confine.h"

static const struct call {
	long number;
	long argument;
	int error; /* of the filter, EPERM, or of the kernel, which has looked at the arguments */
} calls[] = {
	{SYS_unshare, -1, EPERM},
	{SYS_setns, -1, EPERM},
	{SYS_mount, 0, EPERM},
	{SYS_process_vm_writev, 0, EPERM},
	{SYS_ptrace, PTRACE_TRACEME, EPERM},
	{SYS_ptrace, PTRACE_PEEKDATA, EPERM},
	{SYS_ptrace, PTRACE_POKEDATA, EPERM},
	{SYS_ptrace, PTRACE_CONT, EPERM},
	{SYS_ptrace, PTRACE_ATTACH, EPERM},
	{SYS_ptrace, PTRACE_DETACH, EPERM},
	{SYS_ptrace, PTRACE_SETOPTIONS, EPERM},
	{SYS_ptrace, PTRACE_SETSIGINFO, EPERM},
	{SYS_ptrace, PTRACE_INTERRUPT, EPERM},
	{SYS_ptrace, PTRACE_GETREGSET, ESRCH},
	{SYS_ptrace, PTRACE_SETREGSET, ESRCH},
	{SYS_ptrace, PTRACE_SEIZE, ESRCH},
};

/* 0, or the number of the first call that was answered otherwise, from 1 on. */
static int first_wrong(bool confined)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct call *call = &calls[i];
		long r;

		/* Without the filter this one would have been done. */
		if (!confined && call->argument == PTRACE_TRACEME)
			continue;
		errno = 0;
		r = syscall(call->number, call->argument, 0x7fffffff, 0, 0, 0, 0);
		if (r != -1 || errno != call->error)
			return (int)i + 1;
	}
	return 0;
}

static int in_child(bool confined)
{
	struct failure failure = {};
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (geteuid() != 0 && unshare(CLONE_NEWUSER) < 0)
			_exit(100);
		if (confined && confine_daemon(&failure) < 0)
			_exit(101);
		_exit(first_wrong(confined));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_calls(void **state)
{
	(void)state;
	assert_int_equal(in_child(true), 0);
	/* It is the filter that refuses. */
	assert_int_equal(in_child(false), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

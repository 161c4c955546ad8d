/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that stops itself before it does anything: what /proc says of it is what a held one
 * would show.
 */
#ifndef CORDON_TESTS_UNIT_ADOPT_STOPPED_PROCESS_H
#define CORDON_TESTS_UNIT_ADOPT_STOPPED_PROCESS_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static inline pid_t stopped_process_start(const char *directory, char *const *argv,
					  char *const *environment)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (chdir(directory) == 0)
			execve(argv[0], argv, environment);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

/*
 * /usr/bin/env, which writes to `out`, traced from its exec on by whoever calls. What is stopped
 * when a check fails would keep whoever reads this program's output waiting.
 */
static inline pid_t traced_process_start(char *const *environment, int out)
{
	char *const command[] = {(char[]){"/usr/bin/env"}, NULL};
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || dup2(out, 1) < 0)
			_exit(1);
		execve(command[0], command, environment);
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

static inline void stopped_process_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#endif

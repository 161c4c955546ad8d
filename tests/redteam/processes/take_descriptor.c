// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a descriptor from a process outside
 * Hook: ptrace_access_check
 * Errno: EPERM
 * Control: takes its own
 * Record: trace process $PID
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(
		syscall(SYS_pidfd_getfd, NEED(syscall(SYS_pidfd_open, host_pid(), 0)), 0, 0));
}

static int control(void)
{
	return outcome(syscall(SYS_pidfd_getfd, NEED(syscall(SYS_pidfd_open, getpid(), 0)), 1, 0));
}

REDTEAM(.attack = attack, .control = control)

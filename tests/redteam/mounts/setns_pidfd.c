// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: enters the namespaces of a process outside by its pidfd
 * Hook: ptrace_access_check
 * Errno: EPERM
 * Control: uses its own file
 * Record: trace process $PID
 * As: root
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	int fd = NEED(syscall(SYS_pidfd_open, host_pid(), 0));

	return outcome(setns(fd, CLONE_NEWUTS | CLONE_NEWNET));
}

REDTEAM(.attack = attack)

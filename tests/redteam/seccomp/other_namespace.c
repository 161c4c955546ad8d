// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: enters the namespaces of another process
 * Hook: seccomp
 * Errno: EPERM
 * Control: uses its own file
 * Record: system-call setns
 * As: root+filter
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	int pidfd = NEED(syscall(SYS_pidfd_open, host_pid(), 0));

	return outcome(setns(pidfd, CLONE_NEWUTS));
}

REDTEAM(.attack = attack)

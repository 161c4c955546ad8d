// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: compares resources with a process outside
 * Hook: ptrace_access_check
 * Errno: EPERM
 * Control: uses its own file
 * Record: trace process $PID
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(syscall(SYS_kcmp, getpid(), host_pid(), 0 /* KCMP_FILE */, 0, 0));
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: traces a process outside without stopping it
 * Hook: ptrace_access_check
 * Errno: EPERM
 * Control: uses its own file
 * Record: trace process $PID
 */
#include <sys/ptrace.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(ptrace(PTRACE_SEIZE, host_pid(), NULL, NULL));
}

REDTEAM(.attack = attack)

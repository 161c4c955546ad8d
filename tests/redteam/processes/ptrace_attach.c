// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: traces a process outside
 * Hook: ptrace_access_check
 * Errno: EPERM
 * Control: uses its own file
 * Record: trace process $PID
 */
#include <sys/ptrace.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	int error = outcome(ptrace(PTRACE_ATTACH, host_pid(), NULL, NULL));

	if (!error) {
		waitpid(host_pid(), NULL, __WALL);
		ptrace(PTRACE_DETACH, host_pid(), NULL, NULL);
	}
	return error;
}

REDTEAM(.attack = attack)

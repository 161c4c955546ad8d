// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: traces a child of its own, where the policy says none
 * Hook: ptrace_access_check
 * Errno: EPERM
 * Control: uses its own file
 * Record: trace process $ANY
 * As: user bare
 */
#include <sys/ptrace.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	pid_t child = NEED(fork());
	int error;

	if (child == 0)
		pause();
	error = outcome(ptrace(PTRACE_SEIZE, child, NULL, NULL));
	kill(child, SIGKILL);
	return error;
}

REDTEAM(.attack = attack)

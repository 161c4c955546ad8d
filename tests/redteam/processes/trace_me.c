// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has itself traced by its parent, where the policy says none
 * Hook: ptrace_traceme
 * Errno: EPERM
 * Control: uses its own file
 * Record: trace process $ANY
 * As: user bare
 */
#include <sys/ptrace.h>

#include "tests/redteam/attack.h"

static int trace_me(void)
{
	return outcome(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int attack(void)
{
	return in_child(trace_me);
}

REDTEAM(.attack = attack)

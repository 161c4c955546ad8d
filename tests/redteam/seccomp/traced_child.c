// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has itself traced by its parent
 * Hook: seccomp
 * Errno: EPERM
 * Control: waits for a child
 * Record: system-call ptrace
 * As: root+filter user+filter
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

static int control(void)
{
	return in_child(use_own_file);
}

REDTEAM(.attack = attack, .control = control)

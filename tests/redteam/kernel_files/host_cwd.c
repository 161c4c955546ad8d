// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: goes through the working directory of a process outside
 * Hook: ptrace_access_check
 * Errno: EACCES
 * Control: goes through its own
 * Record: trace process $PID as EPERM
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cwd/.", host_pid());
	return outcome(access(path, F_OK));
}

static int control(void)
{
	return outcome(access("/proc/self/cwd/.", F_OK));
}

REDTEAM(.attack = attack, .control = control)

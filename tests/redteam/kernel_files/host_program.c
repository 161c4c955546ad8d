// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens the program of a process outside
 * Hook: ptrace_access_check
 * Errno: EACCES
 * Control: opens its own
 * Record: trace process $PID as EPERM
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", host_pid());
	return open_with(path, O_RDONLY);
}

static int control(void)
{
	return open_with("/proc/self/exe", O_RDONLY);
}

REDTEAM(.attack = attack, .control = control)

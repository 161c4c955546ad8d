// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: renames a process outside
 * Hook: file_open
 * Errno: EACCES
 * Control: renames itself
 * Record: open $ANY
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", host_pid());
	return open_with(path, O_WRONLY);
}

static int control(void)
{
	return open_with("/proc/self/comm", O_WRONLY);
}

REDTEAM(.attack = attack, .control = control)

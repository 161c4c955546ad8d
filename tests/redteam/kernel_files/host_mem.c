// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens the memory of a process outside
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open /proc/$PID/mem
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", host_pid());
	return open_with(path, O_RDWR);
}

REDTEAM(.attack = attack)

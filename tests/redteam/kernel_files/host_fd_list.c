// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: lists the descriptors of a process outside
 * Hook: file_open
 * Errno: EACCES
 * Control: lists its own
 * Record: open /proc/$PID/fd
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", host_pid());
	return open_with(path, O_RDONLY | O_DIRECTORY);
}

static int control(void)
{
	return open_with("/proc/self/fd", O_RDONLY | O_DIRECTORY);
}

REDTEAM(.attack = attack, .control = control)

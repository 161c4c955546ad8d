// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads the environment of a process outside
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own
 * Record: open /proc/$PID/environ
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", host_pid());
	return read_file(path);
}

static int control(void)
{
	return read_file("/proc/self/environ");
}

REDTEAM(.attack = attack, .control = control)

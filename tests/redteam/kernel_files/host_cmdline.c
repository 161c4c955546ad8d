// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads the command line of a process outside
 * Hook: file_open
 * Errno: ENOENT
 * Control: reads its own
 * Record: none
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", host_pid());
	return read_file(path);
}

static int control(void)
{
	return read_file("/proc/self/cmdline");
}

REDTEAM(.attack = attack, .control = control)

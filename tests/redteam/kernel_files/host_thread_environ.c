// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads the environment of a process outside through its threads
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own
 * Record: open /proc/$PID/task/$PID/environ
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/environ", host_pid(), host_pid());
	return read_file(path);
}

static int control(void)
{
	return read_file("/proc/thread-self/environ");
}

REDTEAM(.attack = attack, .control = control)

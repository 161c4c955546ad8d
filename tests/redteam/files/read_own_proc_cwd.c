// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside through /proc/self/cwd
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own file through /proc/self/cwd
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return read_file("/proc/self/cwd/../../victims/read_own_proc_cwd/secret");
}

static int control(void)
{
	return read_file("/proc/self/cwd/own");
}

REDTEAM(.attack = attack, .control = control)

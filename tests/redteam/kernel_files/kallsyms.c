// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads the addresses of the kernel
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own status
 * Record: open /proc/kallsyms
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/proc/kallsyms", O_RDONLY);
}

static int control(void)
{
	return read_file("/proc/self/status");
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens its own memory for writing, around the protection of its code
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own memory map
 * Record: open /proc/$ANY/mem
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/proc/self/mem", O_RDWR);
}

static int control(void)
{
	return read_file("/proc/self/maps");
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens physical memory
 * Hook: file_open
 * Errno: EACCES
 * Control: reads /dev/zero
 * Record: open /dev/mem
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/dev/mem", O_RDONLY);
}

static int control(void)
{
	return read_file("/dev/zero");
}

REDTEAM(.attack = attack, .control = control)

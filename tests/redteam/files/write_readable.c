// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: writes to a file that it may only read
 * Hook: file_open
 * Errno: EACCES
 * Control: reads it
 * Record: open $OPEN/writable
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with(open_place("writable"), O_WRONLY);
}

static int control(void)
{
	return open_with(open_place("writable"), O_RDONLY);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: writes to a file outside
 * Hook: file_open
 * Errno: EACCES
 * Control: writes to its own file
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return write_file(victim("secret"));
}

static int control(void)
{
	return write_file("own");
}

REDTEAM(.attack = attack, .control = control)

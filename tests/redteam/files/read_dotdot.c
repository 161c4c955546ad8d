// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside through ".."
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own file through ".."
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return read_file("../../victims/read_dotdot/secret");
}

static int control(void)
{
	return read_file("../../work/read_dotdot/own");
}

REDTEAM(.attack = attack, .control = control)

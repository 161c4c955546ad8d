// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes a directory outside
 * Hook: path_rmdir
 * Errno: EACCES
 * Control: removes its own directory
 * Record: rmdir $VICTIM/empty
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(rmdir(victim("empty")));
}

static int control(void)
{
	NEED(mkdir("d", 0700));
	return outcome(rmdir("d"));
}

REDTEAM(.attack = attack, .control = control)

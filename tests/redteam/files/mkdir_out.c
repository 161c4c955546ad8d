// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a directory outside
 * Hook: path_mkdir
 * Errno: EACCES
 * Control: makes one in its directory
 * Record: mkdir $VICTIM/dir/new
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(mkdir(victim("dir/new"), 0700));
}

static int control(void)
{
	return outcome(mkdir("new", 0700));
}

REDTEAM(.attack = attack, .control = control)

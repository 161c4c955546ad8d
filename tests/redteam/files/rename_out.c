// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves its own file outside
 * Hook: path_rename
 * Errno: EACCES
 * Control: renames its own file
 * Record: rename $VICTIM/dir/planted
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(rename("own", victim("dir/planted")));
}

static int control(void)
{
	make_file("a", "x", 0600);
	return outcome(rename("a", "b"));
}

REDTEAM(.attack = attack, .control = control)

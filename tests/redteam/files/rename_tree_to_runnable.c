// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves a directory of its own to where files may be run
 * Hook: path_rename
 * Errno: EXDEV
 * Control: renames a directory
 * Record: rename $WORK/run/tree
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(mkdir("tree", 0755));
	make_file("tree/tool", "x", 0755);
	return outcome(rename("tree", "run/tree"));
}

static int control(void)
{
	NEED(mkdir("free", 0755));
	return outcome(rename("free", "freed"));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a directory of its own a name below which, though not by it, files may be run
 * Hook: path_rename
 * Errno: EXDEV
 * Control: gives it another name
 * Record: rename $WORK/run
 * As: root+names user+names
 */
#include "tests/redteam/attack.h"

static void build(void)
{
	NEED(mkdir("tree", 0755));
	make_file("tree/tool", "x", 0755);
}

static int attack(void)
{
	build();
	NEED(rmdir("run"));
	return outcome(rename("tree", "run"));
}

static int control(void)
{
	build();
	return outcome(rename("tree", "other"));
}

REDTEAM(.attack = attack, .control = control)

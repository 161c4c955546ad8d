// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves a file of its own to where it may be run
 * Hook: path_rename
 * Errno: EXDEV
 * Control: renames where files may be run
 * Record: rename $WORK/run/tool
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(rename("own", "run/tool"));
}

static int control(void)
{
	make_file("run/first", "x", 0700);
	return outcome(rename("run/first", "run/second"));
}

REDTEAM(.attack = attack, .control = control)

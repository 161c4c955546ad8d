// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a link to a directory, and renames it so that it has a file by whose name it may
 *   not be made
 * Hook: path_rename
 * Errno: EXDEV
 * Control: renames it beside
 * Record: rename $WORK/conf
 * As: root+names user+names
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(symlink("run", "first"));
	return outcome(rename("first", "conf"));
}

static int control(void)
{
	NEED(symlink("run", "second"));
	return outcome(rename("second", "third"));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves a directory up, so that a link in it leads past the work directory
 * Hook: path_rename
 * Errno: EXDEV
 * Control: moves it within its directory, and down
 * Record: rename $WORK/raised
 * As: root+special user+special
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(mkdir("deep", 0755));
	NEED(mkdir("deep/tree", 0755));
	NEED(symlink("../../../own", "deep/tree/link"));
	return outcome(rename("deep/tree", "raised"));
}

static int control(void)
{
	int error;

	NEED(mkdir("low", 0755));
	NEED(mkdir("tree", 0755));
	NEED(symlink("../own", "tree/link"));
	error = outcome(rename("tree", "renamed"));
	return error ? error : outcome(rename("renamed", "low/tree"));
}

REDTEAM(.attack = attack, .control = control)

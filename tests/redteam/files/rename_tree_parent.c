// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves the directory above one whose files may not be made there into place
 * Hook: path_rename
 * Errno: EXDEV
 * Control: moves it to another name
 * Record: rename $WORK/hooks
 * As: root+names user+names
 */
#include "tests/redteam/attack.h"

static int move_to(const char *name)
{
	NEED(mkdir("tree", 0755));
	NEED(mkdir("tree/run", 0755));
	make_file("tree/run/pre-commit", "x", 0755);
	return outcome(rename("tree", name));
}

static int attack(void)
{
	return move_to("hooks");
}

static int control(void)
{
	return move_to("elsewhere");
}

REDTEAM(.attack = attack, .control = control)

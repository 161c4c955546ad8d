// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves a link up, so that it leads past the work directory
 * Hook: path_rename
 * Errno: EXDEV
 * Control: moves it down
 * Record: rename $WORK/planted
 * As: root+special user+special
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(symlink("../../own", "run/up"));
	return outcome(rename("run/up", "planted"));
}

static int control(void)
{
	NEED(mkdir("run/deep", 0755));
	NEED(symlink("../own", "run/link"));
	return outcome(rename("run/link", "run/deep/link"));
}

REDTEAM(.attack = attack, .control = control)

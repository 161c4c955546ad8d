// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves a directory with a link that leads out from where such links may be made
 * Hook: path_rename
 * Errno: EXDEV
 * Control: moves it where they may be made as well
 * Record: rename $WORK/low/brought
 * As: root+special user+special
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(mkdir("bin", 0755));
	NEED(chown("bin", attacker(), attacker()));
}

static int attack(void)
{
	NEED(mkdir("low", 0755));
	NEED(mkdir("bin/tree", 0755));
	NEED(symlink(victim("secret"), "bin/tree/link"));
	return outcome(rename("bin/tree", "low/brought"));
}

static int control(void)
{
	NEED(mkdir("bin/other", 0755));
	NEED(symlink(victim("secret"), "bin/other/link"));
	return outcome(rename("bin/other", "bin/another"));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

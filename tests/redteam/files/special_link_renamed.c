// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a link of the owner that leads out the name of a file that an executor writes
 * Hook: path_rename
 * Errno: EXDEV
 * Control: gives one that leads inside another name
 * Record: rename $WORK/next
 * As: root+special user+special
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(symlink(victim("secret"), "planted"));
	NEED(lchown("planted", attacker(), attacker()));
}

static int attack(void)
{
	return outcome(rename("planted", "next"));
}

static int control(void)
{
	NEED(symlink("../own", "run/one"));
	return outcome(rename("run/one", "run/two"));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

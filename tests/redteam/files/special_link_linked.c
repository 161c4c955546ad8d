// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a link that leads out a second name
 * Hook: path_link
 * Errno: EXDEV
 * Control: gives one that leads inside a second name
 * Record: link $WORK/next
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
	return outcome(linkat(AT_FDCWD, "planted", AT_FDCWD, "next", 0));
}

static int control(void)
{
	NEED(symlink("own", "one"));
	return outcome(linkat(AT_FDCWD, "one", AT_FDCWD, "two", 0));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: exchanges a file with a link that leads out
 * Hook: path_rename
 * Errno: EXDEV
 * Control: exchanges it with one that leads inside
 * Record: rename $WORK/own
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
	return outcome(renameat2(AT_FDCWD, "own", AT_FDCWD, "planted", RENAME_EXCHANGE));
}

static int control(void)
{
	NEED(symlink("own", "one"));
	return outcome(renameat2(AT_FDCWD, "own", AT_FDCWD, "one", RENAME_EXCHANGE));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

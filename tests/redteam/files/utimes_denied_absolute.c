// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the times of a file in its directory that a rule on absolute paths denies
 * Hook: inode_setattr
 * Errno: EACCES
 * Control: changes those of a file beside it
 * Record: setattr $WORK/denied-by-absolute-path
 * Where: tmpfs ext4 9p overlay:user
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file("denied-by-absolute-path", "secret\n", 0666);
	make_file("allowed", "text\n", 0666);
	NEED(chown("denied-by-absolute-path", attacker(), attacker()));
	NEED(chown("allowed", attacker(), attacker()));
}

static int attack(void)
{
	return outcome(utimensat(AT_FDCWD, "denied-by-absolute-path", NULL, 0));
}

static int control(void)
{
	return outcome(utimensat(AT_FDCWD, "allowed", NULL, 0));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

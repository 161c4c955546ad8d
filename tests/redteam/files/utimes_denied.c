// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the times of a file in its directory that a rule for all directories denies
 * Hook: inode_setattr
 * Errno: EACCES
 * Control: changes those of its own
 * Record: setattr $WORK/.env
 * Where: tmpfs ext4 9p overlay:user
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file(".env", "KEY=secret\n", 0666);
	NEED(chown(".env", attacker(), attacker()));
}

static int attack(void)
{
	return outcome(utimensat(AT_FDCWD, ".env", NULL, 0));
}

static int control(void)
{
	return outcome(utimensat(AT_FDCWD, "own", NULL, 0));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

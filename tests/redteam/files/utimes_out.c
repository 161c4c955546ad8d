// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the times of a file outside
 * Hook: inode_setattr
 * Errno: EACCES
 * Control: changes those of its own
 * Record: setattr $ANY$NAME/secret
 * Where: tmpfs ext4 9p overlay:user
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(utimensat(AT_FDCWD, victim("secret"), NULL, 0));
}

static int control(void)
{
	return outcome(utimensat(AT_FDCWD, "own", NULL, 0));
}

REDTEAM(.attack = attack, .control = control)

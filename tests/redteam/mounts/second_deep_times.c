// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the times of what lies so deep at its other mount that no rule on its place can
 *   be asked
 * Hook: inode_setattr
 * Errno: EACCES
 * Control: changes those of a file of its own
 * Record: setattr $ANY
 */
#include "tests/redteam/deep_mount.h"

static int attack(void)
{
	return outcome(utimensat(AT_FDCWD, "bound/secret", NULL, 0));
}

static int control(void)
{
	return outcome(utimensat(AT_FDCWD, "own", NULL, 0));
}

REDTEAM(.setup = bind_deep, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: asks for the attributes of a directory outside
 * Hook: inode_getattr
 * Errno: EACCES
 * Control: asks for those of its own
 * Record: metadata $VICTIM/dir
 * As: root+metadata user+metadata
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	struct stat status;

	return outcome(stat(victim("dir"), &status));
}

static int control(void)
{
	struct stat status;

	return outcome(stat("run", &status));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sets an attribute of a file outside
 * Hook: inode_setxattr
 * Errno: EACCES
 * Control: sets one of its own
 * Record: setxattr $ANY$NAME/secret
 * As: root
 * Where: tmpfs ext4 overlay
 */
#include <sys/xattr.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(setxattr(victim("secret"), "trusted.x", "x", 1, 0));
}

static int control(void)
{
	return outcome(setxattr("own", "trusted.x", "x", 1, 0));
}

REDTEAM(.attack = attack, .control = control)

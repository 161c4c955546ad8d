// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes an attribute of a file outside
 * Hook: inode_removexattr
 * Errno: EACCES
 * Control: uses its own file
 * Record: setxattr $ANY$NAME/secret
 * As: root
 * Where: tmpfs ext4 overlay
 */
#include <sys/xattr.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(setxattr(victim("secret"), "trusted.x", "x", 1, 0));
}

static int attack(void)
{
	return outcome(removexattr(victim("secret"), "trusted.x"));
}

REDTEAM(.setup = setup, .attack = attack)

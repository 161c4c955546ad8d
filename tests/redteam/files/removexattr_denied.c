// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes an extended attribute of a file in its directory that a rule for all directories
 *   denies
 * Hook: inode_removexattr
 * Errno: EACCES
 * Control: removes one of its own
 * Record: setxattr $WORK/.env
 * As: root
 * Where: tmpfs ext4 overlay
 */
#include <sys/xattr.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file(".env", "KEY=secret\n", 0666);
	NEED(setxattr(".env", "trusted.x", "x", 1, 0));
	NEED(setxattr("own", "trusted.x", "x", 1, 0));
}

static int attack(void)
{
	return outcome(removexattr(".env", "trusted.x"));
}

static int control(void)
{
	return outcome(removexattr("own", "trusted.x"));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

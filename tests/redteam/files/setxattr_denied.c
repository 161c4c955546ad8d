// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sets an extended attribute of a file in its directory that a rule for all directories
 *   denies
 * Hook: inode_setxattr
 * Errno: EACCES
 * Control: sets one of its own
 * Record: setxattr $WORK/.env
 * As: root
 * Where: tmpfs ext4 overlay
 */
#include <sys/xattr.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file(".env", "KEY=secret\n", 0666);
}

static int attack(void)
{
	return outcome(setxattr(".env", "trusted.x", "x", 1, 0));
}

static int control(void)
{
	return outcome(setxattr("own", "trusted.x", "x", 1, 0));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sets an extended attribute of a file of the work directory that has another name outside
 * Hook: inode_setxattr
 * Errno: EPERM
 * Control: sets one of a file with a second name of its own making
 * Record: setxattr $WORK/planted
 * Where: ext4
 */
#include <sys/xattr.h>

#include "tests/redteam/links.h"

static int change(const char *path)
{
	return outcome(setxattr(path, "user.x", "x", 1, 0));
}

static int attack(void)
{
	return change("planted");
}

static int control(void)
{
	return change(own_link());
}

REDTEAM(.setup = plant_link, .attack = attack, .control = control)

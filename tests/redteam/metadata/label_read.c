// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: asks whether a program outside has capabilities
 * Hook: inode_getxattr
 * Errno: EACCES
 * Control: asks that of its own file
 * Record: metadata $VICTIM/program
 * As: root+metadata user+metadata
 * Where: tmpfs ext4
 */
#include <sys/xattr.h>

#include "tests/redteam/attack.h"

static int look(const char *path)
{
	char value[64];

	if (getxattr(path, "security.capability", value, sizeof(value)) >= 0)
		return 0;
	return errno == ENODATA ? 0 : errno;
}

static int attack(void)
{
	return look(victim("program"));
}

static int control(void)
{
	return look("own");
}

REDTEAM(.attack = attack, .control = control)

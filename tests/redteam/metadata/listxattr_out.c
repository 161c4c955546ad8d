// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: lists the extended attributes of a file outside
 * Hook: inode_listxattr
 * Errno: EACCES
 * Control: lists those of its own
 * Record: metadata $VICTIM/secret
 * As: root+metadata user+metadata
 * Where: tmpfs ext4
 */
#include <sys/xattr.h>

#include "tests/redteam/attack.h"

static int look(const char *path)
{
	char names[256];

	return outcome(listxattr(path, names, sizeof(names)));
}

static int attack(void)
{
	return look(victim("secret"));
}

static int control(void)
{
	return look("own");
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads the access control list of a file outside
 * Hook: inode_get_acl, inode_getxattr
 * Errno: EACCES
 * Control: asks for that of its own file
 * Record: metadata $VICTIM/secret
 * As: root+metadata user+metadata
 * Where: tmpfs ext4
 */
#include <sys/xattr.h>

#include "tests/redteam/attack.h"

static int look(const char *path)
{
	char value[256];

	if (getxattr(path, "system.posix_acl_access", value, sizeof(value)) >= 0)
		return 0;
	return errno == ENODATA ? 0 : errno;
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

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads an extended attribute of a file outside, which keeps data
 * Hook: inode_getxattr
 * Errno: EACCES
 * Control: reads one of its own file and of its own directory, and whether the file outside has an
 *   access control list
 * Record: metadata $ANY$NAME/secret
 * As: root user
 * Where: ext4 overlay
 */
#include <sys/xattr.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(setxattr(victim("secret"), "user.data", "secret", 6, 0));
}

static int look(const char *path, const char *name)
{
	char value[16];

	return outcome(getxattr(path, name, value, sizeof(value)));
}

static int attack(void)
{
	return look(victim("secret"), "user.data");
}

static int control(void)
{
	int error;

	NEED(setxattr("own", "user.data", "own", 3, 0));
	NEED(setxattr("run", "user.data", "own", 3, 0));
	error = look("own", "user.data");
	if (!error)
		error = look("run", "user.data");
	if (error)
		return error;
	error = look(victim("secret"), "system.posix_acl_access");
	return error == ENODATA ? 0 : error;
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes the access control list of a file in its directory that a rule for all
 *   directories denies
 * Hook: inode_remove_acl, inode_removexattr
 * Errno: EACCES
 * Control: removes that of its own
 * Record: setxattr $WORK/.env
 * Where: tmpfs ext4
 */
#include "tests/redteam/acl.h"

static void setup(void)
{
	make_file(".env", "KEY=secret\n", 0666);
	NEED(chown(".env", attacker(), attacker()));
	if (set_list(".env") || set_list("own"))
		broken("setxattr");
}

static int remove_list(const char *path)
{
	return outcome(removexattr(path, "system.posix_acl_access"));
}

static int attack(void)
{
	return remove_list(".env");
}

static int control(void)
{
	return remove_list("own");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

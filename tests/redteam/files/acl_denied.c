// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives itself rights by the access control list of a file in its directory that a rule for
 *   all directories denies
 * Hook: inode_set_acl, inode_setxattr
 * Errno: EACCES
 * Control: sets the list of its own
 * Record: setxattr $WORK/.env
 * Where: tmpfs ext4 9p overlay:user
 */
#include "tests/redteam/acl.h"

static void setup(void)
{
	make_file(".env", "KEY=secret\n", 0666);
	NEED(chown(".env", attacker(), attacker()));
}

static int attack(void)
{
	return set_list(".env");
}

static int control(void)
{
	return set_list("own");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

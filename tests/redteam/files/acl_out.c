// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives itself rights by the access control list of a file outside
 * Hook: inode_set_acl, inode_setxattr
 * Errno: EACCES
 * Control: sets the list of its own
 * Record: setxattr $ANY$NAME/secret
 * Where: tmpfs ext4 9p overlay:user
 */
#include "tests/redteam/acl.h"

static int attack(void)
{
	return set_list(victim("secret"));
}

static int control(void)
{
	return set_list("own");
}

REDTEAM(.attack = attack, .control = control)

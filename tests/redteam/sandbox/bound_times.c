// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the times of a file outside that is mounted over its own
 * Hook: inode_setattr
 * Errno: EACCES
 * Control: changes those of its own
 * Record: setattr $ANY/secret
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_sandbox(0);
	bind_at(victim("secret"), "own");
	return outcome(utimensat(AT_FDCWD, "own", NULL, 0));
}

static int allowed(void)
{
	enter_sandbox(0);
	make_file("other", "other\n", 0600);
	bind_at("own", "other");
	return outcome(utimensat(AT_FDCWD, "other", NULL, 0));
}

REDTEAM_INSIDE(inside, allowed)

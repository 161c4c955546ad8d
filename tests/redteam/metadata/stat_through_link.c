// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: asks for the attributes of a file outside through a link of its own
 * Hook: inode_getattr
 * Errno: EACCES
 * Control: follows a link to its own file
 * Record: metadata $VICTIM/secret
 * As: root+metadata user+metadata
 */
#include "tests/redteam/attack.h"

static int look(const char *target)
{
	struct stat status;

	unlink("link");
	NEED(symlink(target, "link"));
	return outcome(stat("link", &status));
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

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a link outside
 * Hook: inode_readlink
 * Errno: EACCES
 * Control: reads a link of its own
 * Record: metadata $VICTIM/link
 * As: root+metadata user+metadata
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	unlink(victim("link"));
	NEED(symlink("/nowhere", victim("link")));
}

static int look(const char *path)
{
	char target[64];

	return outcome(readlink(path, target, sizeof(target)));
}

static int attack(void)
{
	return look(victim("link"));
}

static int control(void)
{
	unlink("link");
	NEED(symlink("own", "link"));
	return look("link");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a symbolic link outside
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes one in its directory
 * Record: symlink $VICTIM/dir/link
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(symlink("/etc/shadow", victim("dir/link")));
}

static int control(void)
{
	return outcome(symlink("own", "link"));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside through a chain of directory links
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(symlink(victim(""), "one"));
	NEED(symlink("one", "two"));
	NEED(symlink("two/dir/..", "three"));
	return read_file("three/secret");
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: creates a file outside through a dangling link
 * Hook: path_mknod
 * Errno: EACCES
 * Control: uses its own file
 * Record: create $VICTIM/dir/new
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(symlink(victim("dir/new"), "dangling"));
	return write_file("dangling");
}

REDTEAM(.attack = attack)

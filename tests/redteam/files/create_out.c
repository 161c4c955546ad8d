// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: creates a file outside
 * Hook: path_mknod
 * Errno: EACCES
 * Control: creates a file in its directory
 * Record: create $VICTIM/dir/new
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return write_file(victim("dir/new"));
}

static int control(void)
{
	return write_file("new");
}

REDTEAM(.attack = attack, .control = control)

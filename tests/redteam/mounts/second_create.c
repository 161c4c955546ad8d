// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a file where a rule denies it through a second mount
 * Hook: path_mknod
 * Errno: EACCES
 * Control: makes one beside
 * Record: create $VICTIM/kept/new
 * As: root bare user
 */
#include "tests/redteam/second_mount.h"

static int attack(void)
{
	return write_file("bound/kept/new");
}

static int control(void)
{
	return write_file("bound/new");
}

REDTEAM(.setup = bind_kept, .attack = attack, .control = control)

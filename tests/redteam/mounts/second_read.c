// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file that a rule on its place denies through a second mount of that place
 * Hook: file_open
 * Errno: EACCES
 * Control: reads what lies beside, twice
 * Record: open $VICTIM/kept/secret
 * As: root bare user
 */
#include "tests/redteam/second_mount.h"

static int attack(void)
{
	return read_file("bound/kept/secret");
}

static int control(void)
{
	int error = read_file("bound/beside");

	return error ? error : read_file("bound/beside");
}

REDTEAM(.setup = bind_kept, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads through a second mount what lies so deep at the first that no rule on its place can
 *   be asked
 * Hook: file_open
 * Errno: EACCES
 * Control: reads a file of its own
 * Record: open $ANY
 */
#include "tests/redteam/deep_mount.h"

static int attack(void)
{
	return read_file("bound/secret");
}

static int control(void)
{
	return read_file("own");
}

REDTEAM(.setup = bind_deep, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: lists a directory outside
 * Hook: file_open
 * Errno: EACCES
 * Control: lists its own directory
 * Record: open $VICTIM/dir
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with(victim("dir"), O_RDONLY | O_DIRECTORY);
}

static int control(void)
{
	return open_with(".", O_RDONLY | O_DIRECTORY);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a file below a directory outside that it holds by O_PATH
 * Hook: file_open
 * Errno: EACCES
 * Control: opens its own file below a descriptor
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(openat(NEED(open(victim(""), O_PATH | O_DIRECTORY)), "secret", O_RDONLY));
}

static int control(void)
{
	return outcome(openat(NEED(open(".", O_PATH | O_DIRECTORY)), "own", O_RDONLY));
}

REDTEAM(.attack = attack, .control = control)

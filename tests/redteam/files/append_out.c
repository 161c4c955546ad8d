// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a file outside for appending
 * Hook: file_open
 * Errno: EACCES
 * Control: appends to its own file
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with(victim("secret"), O_WRONLY | O_APPEND);
}

static int control(void)
{
	return open_with("own", O_WRONLY | O_APPEND);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: truncates a file outside by opening it for reading
 * Hook: file_open
 * Errno: EACCES
 * Control: truncates its own file
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with(victim("secret"), O_RDONLY | O_TRUNC);
}

static int control(void)
{
	return open_with("own", O_RDONLY | O_TRUNC);
}

REDTEAM(.attack = attack, .control = control)

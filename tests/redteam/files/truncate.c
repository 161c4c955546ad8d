// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: truncates a file outside
 * Hook: path_truncate
 * Errno: EACCES
 * Control: truncates its own file
 * Record: truncate $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(truncate(victim("secret"), 0));
}

static int control(void)
{
	return outcome(truncate("own", 1));
}

REDTEAM(.attack = attack, .control = control)

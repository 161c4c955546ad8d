// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the group of a file outside
 * Hook: path_chown
 * Errno: EACCES
 * Control: changes that of its own
 * Record: chown $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(chown(victim("secret"), -1, attacker()));
}

static int control(void)
{
	return outcome(chown("own", -1, attacker()));
}

REDTEAM(.attack = attack, .control = control)

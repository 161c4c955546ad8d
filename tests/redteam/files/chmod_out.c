// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the mode of a file outside
 * Hook: path_chmod
 * Errno: EACCES
 * Control: changes that of its own
 * Record: chmod $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(chmod(victim("secret"), 0666));
}

static int control(void)
{
	return outcome(chmod("own", 0640));
}

REDTEAM(.attack = attack, .control = control)

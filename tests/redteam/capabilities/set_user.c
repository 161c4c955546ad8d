// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: becomes another user
 * Hook: (not held)
 * Errno: EPERM
 * Control: uses its own file
 * Record: none
 * As: bare
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(setresuid(12345, 12345, 12345));
}

REDTEAM(.attack = attack)

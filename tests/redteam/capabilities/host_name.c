// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sets the name of the host to what it is
 * Hook: (not held)
 * Errno: EPERM
 * Control: uses its own file
 * Record: none
 * As: bare
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char name[256];

	NEED(gethostname(name, sizeof(name)));
	return outcome(sethostname(name, strlen(name)));
}

REDTEAM(.attack = attack)

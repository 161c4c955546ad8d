// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a higher priority
 * Hook: (not held)
 * Errno: EACCES
 * Control: uses its own file
 * Record: none
 * As: bare
 */
#include <sys/resource.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(setpriority(PRIO_PROCESS, 0, -5));
}

REDTEAM(.attack = attack)

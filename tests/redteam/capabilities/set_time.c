// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sets the clock to what it shows
 * Hook: (not held)
 * Errno: EPERM
 * Control: uses its own file
 * Record: none
 * As: bare
 */
#include <time.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	struct timespec now;

	NEED(clock_gettime(CLOCK_REALTIME, &now));
	return outcome(clock_settime(CLOCK_REALTIME, &now));
}

REDTEAM(.attack = attack)

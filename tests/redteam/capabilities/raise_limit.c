// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: raises a hard limit
 * Hook: (not held)
 * Errno: EPERM
 * Control: uses its own file
 * Record: none
 * As: bare
 */
#include <sys/resource.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	struct rlimit limit;

	NEED(getrlimit(RLIMIT_MEMLOCK, &limit));
	limit.rlim_max++;
	return outcome(setrlimit(RLIMIT_MEMLOCK, &limit));
}

REDTEAM(.attack = attack)

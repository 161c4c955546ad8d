// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a mount namespace
 * Hook: (not held)
 * Errno: EPERM
 * Control: uses its own file
 * Record: none
 * As: bare
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(unshare(CLONE_NEWNS));
}

REDTEAM(.attack = attack)

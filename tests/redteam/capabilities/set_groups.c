// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes another group
 * Hook: (not held)
 * Errno: EPERM
 * Control: uses its own file
 * Record: none
 * As: bare
 */
#include <grp.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(setgroups(1, (gid_t[]){12345}));
}

REDTEAM(.attack = attack)

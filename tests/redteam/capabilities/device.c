// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a node of a device in its directory
 * Hook: (not held)
 * Errno: EPERM
 * Control: uses its own file
 * Record: none
 * As: bare
 */
#include <sys/sysmacros.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(mknod("zero", S_IFCHR | 0600, makedev(1, 5)));
}

REDTEAM(.attack = attack)

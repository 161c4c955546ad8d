// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes what exec and uid 0 are worth
 * Hook: (bounding set)
 * Errno: EPERM
 * Control: uses its own file
 * Record: none
 * As: bare
 */
#include <linux/securebits.h>

#include "tests/redteam/capability.h"

static int change(void)
{
	return outcome(prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0));
}

static int attack(void)
{
	return in_child(change);
}

REDTEAM(.attack = attack)

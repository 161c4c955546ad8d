// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the kernel write down every process that ends
 * Hook: capable
 * Errno: EPERM
 * Control: uses its own file
 * Record: capable $ANY
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(acct("own")) ?: outcome(acct(NULL));
}

REDTEAM(.attack = attack)

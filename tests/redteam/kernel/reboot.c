// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: decides what a reboot from the keyboard does
 * Hook: capable
 * Errno: EPERM
 * Control: uses its own file
 * Record: capable $ANY
 * As: root
 */
#include <sys/reboot.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(reboot(RB_DISABLE_CAD));
}

REDTEAM(.attack = attack)

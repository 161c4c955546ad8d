// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: hangs up its terminal, for all who use it
 * Hook: capable
 * Errno: EPERM
 * Control: uses its own file
 * Record: capable $ANYSYS_TTY_CONFIG$ANY
 * As: root
 */
#include "tests/redteam/attack.h"

/* In a session without one: the call needs the same then. */
static int hang_up(void)
{
	NEED(setsid());
	return outcome(vhangup());
}

static int attack(void)
{
	return in_child(hang_up);
}

REDTEAM(.attack = attack)

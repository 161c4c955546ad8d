// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram by way of another IPv6 address than the one it names, as ancillary data
 *   says
 * Hook: socket_sendmsg
 * Errno: EPERM
 * Control: sends it straight
 * Record: socket $ANY
 */
#include "tests/redteam/route.h"

static int attack(void)
{
	struct routing_header header = routing_header("::1");

	return send_with(address_v6("::1", PORT_ALLOWED), SOL_IPV6, IPV6_RTHDR, &header,
			 sizeof(header));
}

static int control(void)
{
	return send_with(address_v6("::1", PORT_ALLOWED), 0, 0, NULL, 0);
}

REDTEAM(.attack = attack, .control = control)

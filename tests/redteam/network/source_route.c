// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram by way of another address than the one it names, as ancillary data says
 * Hook: socket_sendmsg
 * Errno: EPERM
 * Control: sends it straight
 * Record: socket $ANY
 * As: root
 */
#include "tests/redteam/route.h"

static int attack(void)
{
	return send_with(address_v4("127.0.0.1", PORT_ALLOWED), SOL_IP, IP_RETOPTS, loose_route,
			 sizeof(loose_route));
}

static int control(void)
{
	return send_with(address_v4("127.0.0.1", PORT_ALLOWED), 0, 0, NULL, 0);
}

REDTEAM(.attack = attack, .control = control)

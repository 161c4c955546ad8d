// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram over IPv6
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: sends to the allowed port
 * Record: send [::1]:7102
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_send(AF_INET6, address_v6("::1", PORT_FORBIDDEN));
}

static int control(void)
{
	return try_send(AF_INET6, address_v6("::1", PORT_ALLOWED));
}

REDTEAM(.attack = attack, .control = control)

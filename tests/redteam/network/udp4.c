// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram over IPv4
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: sends to the allowed port
 * Record: send 127.0.0.1:7102
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_send(AF_INET, address_v4("127.0.0.1", PORT_FORBIDDEN));
}

static int control(void)
{
	return try_send(AF_INET, address_v4("127.0.0.1", PORT_ALLOWED));
}

REDTEAM(.attack = attack, .control = control)

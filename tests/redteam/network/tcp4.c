// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects over TCP and IPv4
 * Hook: socket_connect
 * Errno: EACCES
 * Control: connects to the allowed port
 * Record: connect 127.0.0.1:7102
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_v4("127.0.0.1", PORT_FORBIDDEN));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v4("127.0.0.1", PORT_ALLOWED));
}

REDTEAM(.attack = attack, .control = control)

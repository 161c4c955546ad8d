// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: binds a datagram socket
 * Hook: socket_bind
 * Errno: EACCES
 * Control: binds where it may
 * Record: bind 127.0.0.1:7103
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_bind(SOCK_DGRAM, address_v4("127.0.0.1", PORT_OWN));
}

static int control(void)
{
	return try_bind(SOCK_STREAM, address_v4("127.0.0.1", PORT_OWN));
}

REDTEAM(.attack = attack, .control = control)

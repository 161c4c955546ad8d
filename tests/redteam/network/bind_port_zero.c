// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the kernel choose a port
 * Hook: socket_bind
 * Errno: EACCES
 * Control: binds the allowed port
 * Record: bind 127.0.0.1:0
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_bind(SOCK_STREAM, address_v4("127.0.0.1", 0));
}

static int control(void)
{
	return try_bind(SOCK_STREAM, address_v4("127.0.0.1", PORT_OWN));
}

REDTEAM(.attack = attack, .control = control)

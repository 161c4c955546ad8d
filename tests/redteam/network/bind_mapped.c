// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: binds another address in IPv6 clothes
 * Hook: socket_bind
 * Errno: EACCES
 * Control: binds the allowed address so
 * Record: bind 127.0.0.2:7103
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_bind(SOCK_STREAM, address_v6("::ffff:127.0.0.2", PORT_OWN));
}

static int control(void)
{
	return try_bind(SOCK_STREAM, address_v6("::ffff:127.0.0.1", PORT_OWN));
}

REDTEAM(.attack = attack, .control = control)

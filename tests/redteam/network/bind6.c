// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: binds to an IPv6 address
 * Hook: socket_bind
 * Errno: EACCES
 * Control: binds where it may
 * Record: bind [::1]:7104
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_bind(SOCK_STREAM, address_v6("::1", 7104));
}

static int control(void)
{
	return try_bind(SOCK_STREAM, address_v6("::ffff:127.0.0.1", PORT_OWN));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram to an IPv6 group
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: sends one outside
 * Record: send [ff02::fb]:7106
 */
#include "tests/redteam/group.h"

static int attack(void)
{
	struct address address = address_v6("ff02::fb", PORT_ANYWHERE);

	address.v6.sin6_scope_id = NEED((int)if_nametoindex(LINK));
	return try_send(AF_INET6, address);
}

static int control(void)
{
	return try_send(AF_INET6, address_v6(OUTSIDE_V6, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

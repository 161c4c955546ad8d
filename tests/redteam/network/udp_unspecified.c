// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram to an address without a family
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: sends to the allowed port so
 * Record: send 127.0.0.1:7102
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	struct address address = address_v4("127.0.0.1", PORT_FORBIDDEN);

	address.any.sa_family = AF_UNSPEC;
	return try_send(AF_INET, address);
}

static int control(void)
{
	struct address address = address_v4("127.0.0.1", PORT_ALLOWED);

	address.any.sa_family = AF_UNSPEC;
	return try_send(AF_INET, address);
}

REDTEAM(.attack = attack, .control = control)

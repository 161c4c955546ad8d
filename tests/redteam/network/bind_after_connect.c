// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: binds where it may connect to, after it did
 * Hook: socket_bind
 * Errno: EACCES
 * Control: connects there twice
 * Record: bind 127.0.0.1:7101
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	struct address address = address_v4("127.0.0.1", PORT_ALLOWED);

	if (try_connect(SOCK_DGRAM, address))
		broken("the allowed port");
	return try_bind(SOCK_DGRAM, address);
}

static int control(void)
{
	struct address address = address_v4("127.0.0.1", PORT_ALLOWED);
	int error = try_connect(SOCK_DGRAM, address);

	return error ? error : try_connect(SOCK_DGRAM, address);
}

REDTEAM(.attack = attack, .control = control)

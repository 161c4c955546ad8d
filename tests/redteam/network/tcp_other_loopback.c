// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects to another address of the same host
 * Hook: socket_connect
 * Errno: EACCES
 * Control: uses its own file
 * Record: connect 127.0.0.1:7102
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	int error = try_connect(SOCK_STREAM, address_v4("0.0.0.0", PORT_FORBIDDEN));

	return error;
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches the metadata of another cloud where the policy allows any address
 * Hook: socket_connect
 * Errno: EACCES
 * Control: reaches an address outside
 * Record: connect 100.100.100.200:7106
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_v4("100.100.100.200", PORT_ANYWHERE));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v4(OUTSIDE_V4, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

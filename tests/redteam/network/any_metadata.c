// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches cloud metadata where the policy allows any address
 * Hook: socket_connect
 * Errno: EACCES
 * Control: reaches an address outside
 * Record: connect 169.254.169.254:7106
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_v4("169.254.169.254", PORT_ANYWHERE));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v4(OUTSIDE_V4, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches cloud metadata by an address that is compatible with IPv4
 * Hook: socket_connect
 * Errno: EACCES
 * Control: reaches an address outside
 * Record: connect $ANY:7106
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_v6("::169.254.169.254", PORT_ANYWHERE));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v6(OUTSIDE_V6, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches cloud metadata by way of a tunnel of IPv6 in IPv4
 * Hook: socket_connect
 * Errno: EACCES
 * Control: reaches an address outside
 * Record: connect [2002:a9fe:a9fe::1]:7106
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_v6("2002:a9fe:a9fe::1", PORT_ANYWHERE));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v6(OUTSIDE_V6, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

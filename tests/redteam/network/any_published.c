// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches what the host has published at its own address, and leads on to elsewhere
 * Hook: socket_connect
 * Errno: EACCES
 * Control: reaches an address outside that the host leads to a proxy of its own
 * Record: connect 198.51.100.2:7106
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_v4(PUBLISHED_V4, PORT_ANYWHERE));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v4(PROXIED_V4, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

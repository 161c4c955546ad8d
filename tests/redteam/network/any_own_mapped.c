// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches the host by its own address as a mapped one
 * Hook: socket_connect
 * Errno: EACCES
 * Control: reaches an address outside so
 * Record: connect 198.51.100.1:7106
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_v6("::ffff:198.51.100.1", PORT_ANYWHERE));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v6("::ffff:198.51.100.7", PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

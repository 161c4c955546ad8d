// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches cloud metadata as a mapped address
 * Hook: socket_connect
 * Errno: EACCES
 * Control: reaches an address outside so
 * Record: connect 169.254.169.254:7106
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_v6("::ffff:169.254.169.254", PORT_ANYWHERE));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v6("::ffff:198.51.100.7", PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

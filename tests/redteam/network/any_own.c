// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches a service of the host by the host's own address, where the policy allows any
 * Hook: socket_connect
 * Errno: EACCES
 * Control: reaches an address outside
 * Record: connect 198.51.100.1:7106
 * As: root bare user
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_v4(OWN_V4, PORT_ANYWHERE));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v4(OUTSIDE_V4, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

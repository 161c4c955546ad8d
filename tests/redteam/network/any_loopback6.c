// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches the host over IPv6 where the policy allows any address
 * Hook: socket_connect
 * Errno: EACCES
 * Control: reaches an address outside
 * Record: connect [::1]:7106
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_v6("::1", PORT_ANYWHERE));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v6(OUTSIDE_V6, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

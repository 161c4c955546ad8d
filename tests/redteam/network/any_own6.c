// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches a service of the host by the host's own IPv6 address, where the policy allows any
 * Hook: socket_connect
 * Errno: EACCES
 * Control: reaches an address outside
 * Record: connect [2001:db8::1]:7106
 * As: root bare user
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_v6(OWN_V6, PORT_ANYWHERE));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v6(OUTSIDE_V6, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

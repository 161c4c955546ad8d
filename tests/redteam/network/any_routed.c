// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram to an address that is the host's by a route alone
 * Hook: (packet)
 * Errno: EPERM
 * Control: sends one outside
 * Record: packet 203.0.113.9:7106
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_send(AF_INET, address_v4(ROUTED_V4, PORT_ANYWHERE));
}

static int control(void)
{
	return try_send(AF_INET, address_v4(OUTSIDE_V4, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram to the host's own address, where the policy allows any
 * Hook: (packet)
 * Errno: EPERM
 * Control: sends one outside
 * Record: packet 198.51.100.1:7106
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_send(AF_INET, address_v4(OWN_V4, PORT_ANYWHERE));
}

static int control(void)
{
	return try_send(AF_INET, address_v4(OUTSIDE_V4, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

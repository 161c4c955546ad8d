// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram to the host's own IPv6 address, where the policy allows any
 * Hook: (packet)
 * Errno: EPERM
 * Control: sends one outside
 * Record: packet [2001:db8::1]:7106
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_send(AF_INET6, address_v6(OWN_V6, PORT_ANYWHERE));
}

static int control(void)
{
	return try_send(AF_INET6, address_v6(OUTSIDE_V6, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

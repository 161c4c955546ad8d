// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram to a group
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: sends one outside
 * Record: send 239.255.255.250:7106
 * As: root bare user
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_send(AF_INET, address_v4("239.255.255.250", PORT_ANYWHERE));
}

static int control(void)
{
	return try_send(AF_INET, address_v4(OUTSIDE_V4, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

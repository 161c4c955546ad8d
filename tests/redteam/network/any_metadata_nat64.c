// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches cloud metadata by way of the network's IPv6 translator
 * Hook: socket_connect
 * Errno: EACCES
 * Control: reaches an address outside
 * Record: connect [64:ff9b::a9fe:a9fe]:7106
 * As: root bare user
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_v6("64:ff9b::169.254.169.254", PORT_ANYWHERE));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v6(OUTSIDE_V6, PORT_ANYWHERE));
}

REDTEAM(.attack = attack, .control = control)

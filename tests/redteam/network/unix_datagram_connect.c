// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects to a unix datagram socket outside
 * Hook: unix_may_send
 * Errno: EACCES
 * Control: connects to an allowed one
 * Record: send $HOST/datagram
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_DGRAM, address_path(host_place("datagram")));
}

static int control(void)
{
	return try_connect(SOCK_DGRAM, address_path(open_place("datagram")));
}

REDTEAM(.attack = attack, .control = control)

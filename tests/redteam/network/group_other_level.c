// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: joins an IPv4 group by an IPv6 socket
 * Hook: socket_setsockopt
 * Errno: EACCES
 * Control: sets how far datagrams to groups go
 * Record: socket $ANY
 */
#include "tests/redteam/group.h"

static int attack(void)
{
	return join_group(AF_INET6, SOCK_DGRAM, SOL_IP, address_v4(GROUP_V4, 0));
}

static int control(void)
{
	return set_group_hops(AF_INET6, SOCK_DGRAM);
}

REDTEAM(.attack = attack, .control = control)

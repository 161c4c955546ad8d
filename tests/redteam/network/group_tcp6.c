// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the kernel tell the network about an IPv6 group of its choice, on a TCP socket
 * Hook: socket_setsockopt
 * Errno: EACCES
 * Control: sets how far datagrams to groups go
 * Record: socket $ANY
 */
#include "tests/redteam/group.h"

static int attack(void)
{
	return join_group(AF_INET6, SOCK_STREAM, SOL_IPV6, address_v6(GROUP_V6, 0));
}

static int control(void)
{
	return set_group_hops(AF_INET6, SOCK_DGRAM);
}

REDTEAM(.attack = attack, .control = control)

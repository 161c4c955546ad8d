// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has all its datagrams go by way of another IPv6 address
 * Hook: socket_setsockopt
 * Errno: EPERM
 * Control: sets a harmless option
 * Record: socket $ANY
 */
#include "tests/redteam/route.h"

static int attack(void)
{
	struct routing_header header = routing_header("::1");
	int fd = socket_or_broken(AF_INET6, SOCK_DGRAM);

	return outcome(setsockopt(fd, SOL_IPV6, IPV6_RTHDR, &header, sizeof(header)));
}

static int control(void)
{
	int fd = socket_or_broken(AF_INET6, SOCK_DGRAM), hops = 9;

	return outcome(setsockopt(fd, SOL_IPV6, IPV6_UNICAST_HOPS, &hops, sizeof(hops)));
}

REDTEAM(.attack = attack, .control = control)

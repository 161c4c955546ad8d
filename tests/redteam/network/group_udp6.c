// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: joins an IPv6 group, whose address is what it wants to say
 * Hook: socket_setsockopt
 * Errno: EACCES
 * Control: sets how far datagrams to groups go
 * Record: socket $ANY
 * As: root bare user
 */
#include "tests/redteam/group.h"

static int attack(void)
{
	struct ipv6_mreq request = {.ipv6mr_interface = NEED((int)if_nametoindex("lo"))};
	int fd = socket_or_broken(AF_INET6, SOCK_DGRAM);

	inet_pton(AF_INET6, GROUP_V6, &request.ipv6mr_multiaddr);
	return outcome(setsockopt(fd, SOL_IPV6, IPV6_JOIN_GROUP, &request, sizeof(request)));
}

static int control(void)
{
	return set_group_hops(AF_INET6, SOCK_DGRAM);
}

REDTEAM(.attack = attack, .control = control)

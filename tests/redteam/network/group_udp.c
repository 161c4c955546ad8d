// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: joins a group, whose address is what it wants to say
 * Hook: socket_setsockopt
 * Errno: EACCES
 * Control: sets how far datagrams to groups go
 * Record: socket $ANY
 * As: root bare user
 */
#include "tests/redteam/group.h"

static int attack(void)
{
	struct ip_mreqn request = {.imr_ifindex = NEED((int)if_nametoindex("lo"))};
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM);

	inet_pton(AF_INET, GROUP_V4, &request.imr_multiaddr);
	return outcome(setsockopt(fd, SOL_IP, IP_ADD_MEMBERSHIP, &request, sizeof(request)));
}

static int control(void)
{
	return set_group_hops(AF_INET, SOCK_DGRAM);
}

REDTEAM(.attack = attack, .control = control)

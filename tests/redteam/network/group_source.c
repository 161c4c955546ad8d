// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: joins a group from sources of its choice, which reports list
 * Hook: socket_setsockopt
 * Errno: EACCES
 * Control: sets how far datagrams to groups go
 * Record: socket $ANY
 */
#include "tests/redteam/group.h"

static int attack(void)
{
	struct ip_mreq_source request = {.imr_interface = {htonl(INADDR_LOOPBACK)}};
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM);

	inet_pton(AF_INET, GROUP_V4, &request.imr_multiaddr);
	inet_pton(AF_INET, "115.101.99.114", &request.imr_sourceaddr);
	return outcome(setsockopt(fd, SOL_IP, IP_ADD_SOURCE_MEMBERSHIP, &request, sizeof(request)));
}

static int control(void)
{
	return set_group_hops(AF_INET, SOCK_DGRAM);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: joins an IPv6 group from sources of its choice, which reports list
 * Hook: socket_setsockopt
 * Errno: EACCES
 * Control: sets how far datagrams to groups go
 * Record: socket $ANY
 * As: root bare user
 */
#include "tests/redteam/group.h"

static int attack(void)
{
	struct group_source_req request = {.gsr_interface = NEED((int)if_nametoindex("lo"))};
	struct address group = address_v6(GROUP_V6, 0),
		       source = address_v6("2001:db8::7365:6372", 0);
	int fd = socket_or_broken(AF_INET6, SOCK_DGRAM);

	memcpy(&request.gsr_group, &group.any, group.length);
	memcpy(&request.gsr_source, &source.any, source.length);
	return outcome(
		setsockopt(fd, SOL_IPV6, MCAST_JOIN_SOURCE_GROUP, &request, sizeof(request)));
}

static int control(void)
{
	return set_group_hops(AF_INET6, SOCK_DGRAM);
}

REDTEAM(.attack = attack, .control = control)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memberships of multicast groups, which the kernel reports to the network with the addresses in
 * them.
 */
#ifndef CORDON_TESTS_REDTEAM_GROUP_H
#define CORDON_TESTS_REDTEAM_GROUP_H

#include <net/if.h>

#include "tests/redteam/net.h"

#define GROUP_V4 "239.1.2.3"
#define GROUP_V6 "ff15::7265:6164"

/* MCAST_JOIN_GROUP, by any level that the socket serves. */
static inline int join_group(int family, int type, int level, struct address group)
{
	struct group_req request = {.gr_interface = NEED((int)if_nametoindex("lo"))};
	int fd = socket_or_broken(family, type), error;

	memcpy(&request.gr_group, &group.any, group.length);
	error = outcome(setsockopt(fd, level, MCAST_JOIN_GROUP, &request, sizeof(request)));
	close(fd);
	return error;
}

/* How far datagrams to groups go is no packet. */
static inline int set_group_hops(int family, int type)
{
	int fd = socket_or_broken(family, type), hops = 1, error;

	error = outcome(
		family == AF_INET
			? setsockopt(fd, SOL_IP, IP_MULTICAST_TTL, &hops, sizeof(hops))
			: setsockopt(fd, SOL_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof(hops)));
	close(fd);
	return error;
}

#endif

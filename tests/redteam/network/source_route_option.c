// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has all its datagrams go by way of another address
 * Hook: socket_setsockopt
 * Errno: EPERM
 * Control: sets a harmless option
 * Record: socket $ANY
 * As: root
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	static const unsigned char route[8] = {131, 7, 4, 127, 0, 0, 2, 0};
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM);

	return outcome(setsockopt(fd, SOL_IP, IP_OPTIONS, route, sizeof(route)));
}

static int control(void)
{
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM), ttl = 9;

	return outcome(setsockopt(fd, SOL_IP, IP_TTL, &ttl, sizeof(ttl)));
}

REDTEAM(.attack = attack, .control = control)

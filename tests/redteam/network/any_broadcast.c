// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram to everybody on the link
 * Hook: (packet)
 * Errno: EPERM
 * Control: sends one to one of them
 * Record: packet 198.51.100.255:7106
 * As: root bare user
 */
#include "tests/redteam/net.h"

static int broadcast(const char *ip)
{
	struct address address = address_v4(ip, PORT_ANYWHERE);
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM), one = 1, error;

	NEED(setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one)));
	NEED(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, LINK, sizeof(LINK)));
	error = outcome(sendto(fd, "x", 1, 0, &address.any, address.length));
	close(fd);
	return error;
}

static int attack(void)
{
	return broadcast(EVERYBODY_V4);
}

static int control(void)
{
	return broadcast(OUTSIDE_V4);
}

REDTEAM(.attack = attack, .control = control)

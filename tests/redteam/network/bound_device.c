// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: chooses the link by which it reaches the host's own address
 * Hook: (packet)
 * Errno: EPERM
 * Control: chooses the link by which it reaches one outside
 * Record: packet 198.51.100.1:7106
 */
#include "tests/redteam/net.h"

static int send_by(const char *device, const char *ip)
{
	struct address address = address_v4(ip, PORT_ANYWHERE);
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM), error;

	NEED(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device) + 1));
	error = outcome(sendto(fd, "x", 1, 0, &address.any, address.length));
	close(fd);
	return error;
}

static int attack(void)
{
	return send_by("lo", OWN_V4);
}

static int control(void)
{
	return send_by(LINK, OUTSIDE_V4);
}

REDTEAM(.attack = attack, .control = control)

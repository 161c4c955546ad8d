// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: corks a datagram to the allowed port, and names another for what it adds
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: adds to it
 * Record: send 127.0.0.1:7102
 */
#include <netinet/udp.h>

#include "tests/redteam/net.h"

static int send_corked(int port)
{
	struct address first = address_v4("127.0.0.1", PORT_ALLOWED),
		       second = address_v4("127.0.0.1", port);
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM), one = 1, error;

	NEED(setsockopt(fd, SOL_UDP, UDP_CORK, &one, sizeof(one)));
	NEED(sendto(fd, "x", 1, 0, &first.any, first.length));
	error = outcome(sendto(fd, "y", 1, 0, &second.any, second.length));
	close(fd);
	return error;
}

static int attack(void)
{
	return send_corked(PORT_FORBIDDEN);
}

static int control(void)
{
	return send_corked(PORT_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

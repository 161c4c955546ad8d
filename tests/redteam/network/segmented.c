// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the kernel cut one message into datagrams to a forbidden port
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: does so to the allowed port
 * Record: send 127.0.0.1:7102
 */
#include <netinet/udp.h>

#include "tests/redteam/net.h"

static int send_segmented(int port)
{
	struct address address = address_v4("127.0.0.1", port);
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM), size = 8, error;

	NEED(setsockopt(fd, SOL_UDP, UDP_SEGMENT, &size, sizeof(size)));
	error = outcome(sendto(fd, "0123456789abcdef", 16, 0, &address.any, address.length));
	close(fd);
	return error;
}

static int attack(void)
{
	return send_segmented(PORT_FORBIDDEN);
}

static int control(void)
{
	return send_segmented(PORT_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

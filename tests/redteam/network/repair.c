// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: puts a TCP socket into repair, where it is connected without a packet
 * Hook: socket_connect
 * Errno: EACCES
 * Control: puts one into repair to the allowed port
 * Record: connect 127.0.0.1:7102
 * As: root
 */
#include "tests/redteam/net.h"

static int repair_to(int port)
{
	struct address address = address_v4("127.0.0.1", port);
	int fd = socket_or_broken(AF_INET, SOCK_STREAM), one = 1, error;

	NEED(setsockopt(fd, SOL_TCP, TCP_REPAIR, &one, sizeof(one)));
	error = outcome(connect(fd, &address.any, address.length));
	close(fd);
	return error;
}

static int attack(void)
{
	return repair_to(PORT_FORBIDDEN);
}

static int control(void)
{
	return repair_to(PORT_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the kernel connect when the first message is sent
 * Hook: socket_connect
 * Errno: EACCES
 * Control: does so to the allowed port
 * Record: connect 127.0.0.1:7102
 */
#include "tests/redteam/net.h"

static int connect_later(int port)
{
	struct address address = address_v4("127.0.0.1", port);
	int fd = socket_or_broken(AF_INET, SOCK_STREAM), one = 1, error;

	NEED(setsockopt(fd, SOL_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof(one)));
	error = outcome(connect(fd, &address.any, address.length));
	if (!error)
		error = outcome(send(fd, "x", 1, MSG_NOSIGNAL));
	close(fd);
	return error;
}

static int attack(void)
{
	return connect_later(PORT_FORBIDDEN);
}

static int control(void)
{
	return connect_later(PORT_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

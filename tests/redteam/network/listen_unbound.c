// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: listens without having bound
 * Hook: socket_listen
 * Errno: EACCES
 * Control: listens where it may
 * Record: listen 0.0.0.0:0
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return outcome(listen(socket_or_broken(AF_INET, SOCK_STREAM), 1));
}

static int control(void)
{
	struct address address = address_v4("127.0.0.1", PORT_OWN);
	int fd = socket_or_broken(AF_INET, SOCK_STREAM), one = 1;

	NEED(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	NEED(bind(fd, &address.any, address.length));
	return outcome(listen(fd, 1));
}

REDTEAM(.attack = attack, .control = control)

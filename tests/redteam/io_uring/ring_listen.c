// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: listens without having bound, through io_uring
 * Hook: socket_listen
 * Errno: EACCES
 * Control: listens where it may so
 * Record: listen 0.0.0.0:0
 * Needs: symbol io_listen
 */
#include "tests/redteam/net.h"
#include "tests/redteam/uring.h"

static int listen_by_ring(int fd)
{
	return uring_once((struct io_uring_sqe){.opcode = RING_LISTEN, .fd = fd, .len = 1});
}

static int attack(void)
{
	return listen_by_ring(socket_or_broken(AF_INET, SOCK_STREAM));
}

static int control(void)
{
	struct address address = address_v4("127.0.0.1", PORT_OWN);
	int fd = socket_or_broken(AF_INET, SOCK_STREAM), one = 1;

	NEED(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	NEED(bind(fd, &address.any, address.length));
	return listen_by_ring(fd);
}

REDTEAM(.attack = attack, .control = control)

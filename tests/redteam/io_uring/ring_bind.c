// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: binds through io_uring
 * Hook: socket_bind
 * Errno: EACCES
 * Control: binds where it may so
 * Record: bind 127.0.0.1:7104
 * Needs: symbol io_bind
 */
#include "tests/redteam/net.h"
#include "tests/redteam/uring.h"

static int bind_by_ring(int port)
{
	struct address address = address_v4("127.0.0.1", port);
	int fd = socket_or_broken(AF_INET, SOCK_STREAM), one = 1;

	NEED(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	return uring_once((struct io_uring_sqe){.opcode = RING_BIND,
						.fd = fd,
						.addr = (unsigned long)&address.any,
						.off = address.length});
}

static int attack(void)
{
	return bind_by_ring(7104);
}

static int control(void)
{
	return bind_by_ring(PORT_OWN);
}

REDTEAM(.attack = attack, .control = control)

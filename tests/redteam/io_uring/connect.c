// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects through io_uring
 * Hook: socket_connect
 * Errno: EACCES
 * Control: connects to the allowed port so
 * Record: connect 127.0.0.1:7102
 */
#include "tests/redteam/net.h"
#include "tests/redteam/uring.h"

static int connect_by_ring(int port)
{
	struct address address = address_v4("127.0.0.1", port);

	return uring_once((struct io_uring_sqe){.opcode = IORING_OP_CONNECT,
						.fd = socket_or_broken(AF_INET, SOCK_STREAM),
						.addr = (unsigned long)&address.any,
						.off = address.length});
}

static int attack(void)
{
	return connect_by_ring(PORT_FORBIDDEN);
}

static int control(void)
{
	return connect_by_ring(PORT_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

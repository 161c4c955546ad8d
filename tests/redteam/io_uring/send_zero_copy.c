// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram to a forbidden port through io_uring without a message
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: sends to the allowed port so
 * Record: send 127.0.0.1:7102
 */
#include "tests/redteam/net.h"
#include "tests/redteam/uring.h"

static int send_to(int port)
{
	struct address address = address_v4("127.0.0.1", port);
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM), error;

	error = uring_once((struct io_uring_sqe){
		.opcode = IORING_OP_SEND_ZC,
		.fd = fd,
		.addr = (unsigned long)"x",
		.len = 1,
		.addr2 = (unsigned long)&address.any,
		.addr_len = address.length,
	});
	close(fd);
	return error;
}

static int attack(void)
{
	return send_to(PORT_FORBIDDEN);
}

static int control(void)
{
	return send_to(PORT_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

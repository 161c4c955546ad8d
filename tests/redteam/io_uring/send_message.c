// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram to a forbidden port through io_uring
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: sends to the allowed port so
 * Record: send 127.0.0.1:7102
 */
#include "tests/redteam/net.h"
#include "tests/redteam/uring.h"

static int send_message(int port)
{
	struct address address = address_v4("127.0.0.1", port);
	struct iovec data = {"x", 1};
	struct msghdr message = {.msg_name = &address.any,
				 .msg_namelen = address.length,
				 .msg_iov = &data,
				 .msg_iovlen = 1};

	return uring_once((struct io_uring_sqe){.opcode = IORING_OP_SENDMSG,
						.fd = socket_or_broken(AF_INET, SOCK_DGRAM),
						.addr = (unsigned long)&message,
						.len = 1});
}

static int attack(void)
{
	return send_message(PORT_FORBIDDEN);
}

static int control(void)
{
	return send_message(PORT_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

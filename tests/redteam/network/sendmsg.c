// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram by sendmsg
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: sends to the allowed port
 * Record: send 127.0.0.1:7102
 */
#include "tests/redteam/net.h"

static int send_message(int port, int many)
{
	struct address address = address_v4("127.0.0.1", port);
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM);
	struct iovec data = {"x", 1};
	struct mmsghdr message = {.msg_hdr = {.msg_name = &address.any,
					      .msg_namelen = address.length,
					      .msg_iov = &data,
					      .msg_iovlen = 1}};

	return outcome(many ? sendmmsg(fd, &message, 1, 0) : sendmsg(fd, &message.msg_hdr, 0));
}

static int attack(void)
{
	return send_message(PORT_FORBIDDEN, 0);
}

static int control(void)
{
	return send_message(PORT_ALLOWED, 0);
}

REDTEAM(.attack = attack, .control = control)

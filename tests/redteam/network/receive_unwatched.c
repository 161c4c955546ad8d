// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a socket, which whoever sent it may connect anywhere afterwards, where nobody
 *   watches what it is used for
 * Hook: file_receive
 * Errno: EACCES
 * Control: receives one of its own
 * Record: receive 2
 * As: root+filter user+filter
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	int fd = receive_descriptor("socket:tcp:7101");

	return fd < 0 ? EACCES : 0;
}

static int control(void)
{
	char byte = 'x', control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec data = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = (struct cmsghdr *)control;
	int own = socket_or_broken(AF_INET, SOCK_STREAM), ends[2];

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &own, sizeof(int));
	NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	NEED(sendmsg(ends[0], &message, 0));
	NEED(recvmsg(ends[1], &message, 0));
	return message.msg_controllen < CMSG_LEN(sizeof(int)) ? EACCES : 0;
}

REDTEAM(.attack = attack, .control = control)

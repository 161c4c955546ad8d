// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives the master of a terminal that the host has made
 * Hook: file_receive
 * Errno: EACCES
 * Control: receives one that it has made itself
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: receive /dev/$ANYptmx
 */
#include "tests/redteam/terminals.h"

static int attack(void)
{
	return receive_descriptor("/dev/ptmx") < 0 ? EACCES : 0;
}

static int control(void)
{
	char byte = 'x', data[CMSG_SPACE(sizeof(int))] = {};
	struct iovec bytes = {&byte, 1};
	struct msghdr message = {.msg_iov = &bytes,
				 .msg_iovlen = 1,
				 .msg_control = data,
				 .msg_controllen = sizeof(data)};
	struct cmsghdr *header = (struct cmsghdr *)data;
	int pair[2], master = new_master(), slave;

	NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	slave = NEED(open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC));
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &master, sizeof(int));
	NEED(sendmsg(pair[0], &message, 0));
	NEED(recvmsg(pair[1], &message, 0));
	if (message.msg_flags & MSG_CTRUNC)
		return EACCES;
	memcpy(&master, CMSG_DATA(header), sizeof(int));
	return try_pair(master, slave);
}

REDTEAM(.attack = attack, .control = control)

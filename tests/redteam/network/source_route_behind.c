// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: names another way behind as much ancillary data as is looked through, by a socket that
 *   the host has made
 * Hook: socket_sendmsg
 * Errno: EPERM
 * Control: sends with less of it
 * Record: socket $ANY
 * As: root
 */
#include "tests/redteam/route.h"

#define HARMLESS 8

static void add(struct msghdr *message, int type, const void *data, size_t length)
{
	struct cmsghdr *header =
		(struct cmsghdr *)((char *)message->msg_control + message->msg_controllen);

	header->cmsg_level = SOL_IP;
	header->cmsg_type = type;
	header->cmsg_len = CMSG_LEN(length);
	memcpy(CMSG_DATA(header), data, length);
	message->msg_controllen += CMSG_SPACE(length);
}

static int send_behind(int harmless, bool route)
{
	char control[512] __attribute__((aligned(8))) = {};
	struct iovec text = {"x", 1};
	struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = control};
	int fd = receive_descriptor("socket:udp:7101"), lifetime = 64, error;

	for (int i = 0; i < harmless; i++)
		add(&message, IP_TTL, &lifetime, sizeof(lifetime));
	if (route)
		add(&message, IP_RETOPTS, loose_route, sizeof(loose_route));
	error = outcome(sendmsg(fd, &message, 0));
	close(fd);
	return error;
}

static int attack(void)
{
	return send_behind(HARMLESS, true);
}

static int control(void)
{
	return send_behind(HARMLESS - 1, false);
}

REDTEAM(.attack = attack, .control = control)

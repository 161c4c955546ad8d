// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends past the address that it names, over a source route in a control message
 * Hook: cgroup_skb
 * Errno: EPERM
 * Control: sends without one
 * Record: packet 127.0.0.2:7101
 * As: root
 */
#include "tests/redteam/net.h"

/* Loose source route: where to first. The address that is named comes last. */
static int send_over(const char *first)
{
	struct address address = address_v4("127.0.0.1", PORT_ALLOWED);
	uint8_t options[8] = {131, 7, 4};
	char control[CMSG_SPACE(sizeof(options))] = {};
	struct iovec data = {"x", 1};
	struct msghdr message = {
		.msg_name = &address.any,
		.msg_namelen = address.length,
		.msg_iov = &data,
		.msg_iovlen = 1,
	};
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM), error;

	if (first) {
		struct cmsghdr *header = (struct cmsghdr *)control;

		NEED(inet_pton(AF_INET, first, options + 3));
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		header->cmsg_level = IPPROTO_IP;
		header->cmsg_type = IP_RETOPTS;
		header->cmsg_len = CMSG_LEN(sizeof(options));
		memcpy(CMSG_DATA(header), options, sizeof(options));
	}
	error = outcome(sendmsg(fd, &message, 0));
	close(fd);
	return error;
}

static int attack(void)
{
	return send_over("127.0.0.2");
}

static int control(void)
{
	return send_over(NULL);
}

REDTEAM(.attack = attack, .control = control)

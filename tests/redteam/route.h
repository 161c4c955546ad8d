/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams whose ancillary data say by which way they go. */
#ifndef CORDON_TESTS_REDTEAM_ROUTE_H
#define CORDON_TESTS_REDTEAM_ROUTE_H

#include "tests/redteam/net.h"

/* Type 2, of Mobile IPv6: the only one that needs no privilege. */
struct routing_header {
	unsigned char next;
	unsigned char length;
	unsigned char type;
	unsigned char left;
	unsigned int reserved;
	struct in6_addr way;
};

static inline struct routing_header routing_header(const char *way)
{
	struct routing_header header = {.length = 2, .type = 2, .left = 1};

	inet_pton(AF_INET6, way, &header.way);
	return header;
}

/* 127.0.0.2 first. */
static const unsigned char loose_route[8] = {131, 7, 4, 127, 0, 0, 2, 0};

/* To `address`, if there is one. Closes the socket. */
static inline int send_from(int fd, struct address *address, int level, int type, const void *data,
			    size_t length)
{
	char control[128] __attribute__((aligned(8))) = {};
	struct cmsghdr *header = (struct cmsghdr *)control;
	struct iovec text = {"x", 1};
	struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
	int error;

	if (address) {
		message.msg_name = &address->any;
		message.msg_namelen = address->length;
	}
	if (data) {
		header->cmsg_level = level;
		header->cmsg_type = type;
		header->cmsg_len = CMSG_LEN(length);
		memcpy(CMSG_DATA(header), data, length);
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(length);
	}
	error = outcome(sendmsg(fd, &message, 0));
	close(fd);
	return error;
}

static inline int send_with(struct address address, int level, int type, const void *data,
			    size_t length)
{
	return send_from(socket_or_broken(address.any.sa_family, SOCK_DGRAM), &address, level, type,
			 data, length);
}

#endif

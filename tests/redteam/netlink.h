/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of rtnetlink in a network of the attacker's own. */
#ifndef CORDON_TESTS_REDTEAM_NETLINK_H
#define CORDON_TESTS_REDTEAM_NETLINK_H

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include "tests/redteam/sandbox.h"

#define LOOPBACK 1 /* the first link of each network */

/* Messages, one behind the other, which are sent at once. */
struct messages {
	char data[1024];
	size_t length;
	struct nlmsghdr *last;
};

static inline void *add_message(struct messages *m, int type, int flags, size_t size)
{
	m->last = (struct nlmsghdr *)(m->data + m->length);
	*m->last = (struct nlmsghdr){
		.nlmsg_len = NLMSG_LENGTH(size),
		.nlmsg_type = (unsigned short)type,
		.nlmsg_flags = (unsigned short)(NLM_F_REQUEST | NLM_F_ACK | flags),
	};
	m->length += NLMSG_SPACE(size);
	return NLMSG_DATA(m->last);
}

static inline void *add_attribute(struct messages *m, int type, const void *data, size_t size)
{
	struct rtattr *attribute = (struct rtattr *)(m->data + m->length);

	attribute->rta_type = (unsigned short)type;
	attribute->rta_len = (unsigned short)RTA_LENGTH(size);
	memcpy(RTA_DATA(attribute), data, size);
	m->length += RTA_SPACE(size);
	m->last->nlmsg_len = (unsigned int)(m->data + m->length - (char *)m->last);
	return attribute;
}

/* `ip link add type KIND` */
static inline void add_link(struct messages *m, const char *kind)
{
	struct ifinfomsg *link =
		add_message(m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, sizeof(*link));
	struct rtattr *info;

	info = add_attribute(m, IFLA_LINKINFO, "", 0);
	add_attribute(m, IFLA_INFO_KIND, kind, strlen(kind));
	info->rta_len = (unsigned short)(m->data + m->length - (char *)info);
}

static inline void add_link_up(struct messages *m)
{
	struct ifinfomsg *link = add_message(m, RTM_NEWLINK, 0, sizeof(*link));

	link->ifi_index = LOOPBACK;
	link->ifi_flags = IFF_UP;
	link->ifi_change = IFF_UP;
}

/* As `ip address add 127.0.0.9/8 dev lo scope host` */
static inline void add_own_address(struct messages *m)
{
	struct ifaddrmsg *address =
		add_message(m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, sizeof(*address));
	in_addr_t ip = inet_addr("127.0.0.9");

	*address = (struct ifaddrmsg){.ifa_family = AF_INET,
				      .ifa_prefixlen = 8,
				      .ifa_scope = RT_SCOPE_HOST,
				      .ifa_index = LOOPBACK};
	add_attribute(m, IFA_LOCAL, &ip, sizeof(ip));
}

static inline void add_look(struct messages *m)
{
	struct ifinfomsg *link = add_message(m, RTM_GETLINK, 0, sizeof(*link));

	link->ifi_index = LOOPBACK;
}

/* Returns the errno of the call, or of the last message. */
static inline int send_messages(const struct messages *m)
{
	int fd = NEED(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)), last = 0;
	int expected = 0;
	char answer[16384];

	for (size_t at = 0; at < m->length; expected++)
		at += NLMSG_ALIGN(((const struct nlmsghdr *)(m->data + at))->nlmsg_len);
	if (send(fd, m->data, m->length, 0) < 0)
		return errno;
	while (expected > 0) {
		ssize_t size = NEED(recv(fd, answer, sizeof(answer), 0));

		for (struct nlmsghdr *h = (void *)answer; NLMSG_OK(h, size);
		     h = NLMSG_NEXT(h, size)) {
			if (h->nlmsg_type != NLMSG_ERROR)
				continue;
			last = -((struct nlmsgerr *)NLMSG_DATA(h))->error;
			expected--;
		}
	}
	close(fd);
	return last;
}

/* What a sandbox does. */
static inline int use_own_network(void)
{
	struct messages messages = {};

	enter_sandbox(CLONE_NEWNET);
	add_look(&messages);
	add_link_up(&messages);
	add_own_address(&messages);
	return send_messages(&messages);
}

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has a flow label carry the way of its datagrams
 * Hook: socket_setsockopt
 * Errno: EPERM
 * Control: sets a harmless option
 * Record: socket $ANY
 */
#include "tests/redteam/route.h"

/* As <linux/in6.h> has it, which does not go together with <netinet/in.h>. */
struct flow_label_request {
	struct in6_addr destination;
	unsigned int label;
	unsigned char action;
	unsigned char share;
	unsigned short flags;
	unsigned short expires;
	unsigned short linger;
	unsigned int padding;
};

static int attack(void)
{
	struct flow_label_request request = {.action = 0 /* get */, .share = 1, .flags = 1};
	int fd = socket_or_broken(AF_INET6, SOCK_DGRAM);

	inet_pton(AF_INET6, "::1", &request.destination);
	return outcome(
		setsockopt(fd, SOL_IPV6, 32 /* IPV6_FLOWLABEL_MGR */, &request, sizeof(request)));
}

static int control(void)
{
	int fd = socket_or_broken(AF_INET6, SOCK_DGRAM), hops = 9;

	return outcome(setsockopt(fd, SOL_IPV6, IPV6_UNICAST_HOPS, &hops, sizeof(hops)));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes routes in a network of its own, which can put packets into others
 * Hook: netlink_send
 * Errno: EPERM
 * Control: brings the loopback up there, and gives it one more address
 * Record: capable $ANYNET_ADMIN$ANY
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/netlink.h"

static int inside(void)
{
	struct messages messages = {};
	struct rtmsg *route;
	int link = LOOPBACK;

	enter_sandbox(CLONE_NEWNET);
	add_link_up(&messages);
	route = add_message(&messages, RTM_NEWROUTE, NLM_F_CREATE, sizeof(*route));
	*route = (struct rtmsg){.rtm_family = AF_INET,
				.rtm_table = RT_TABLE_MAIN,
				.rtm_protocol = RTPROT_STATIC,
				.rtm_scope = RT_SCOPE_LINK,
				.rtm_type = RTN_UNICAST};
	add_attribute(&messages, RTA_OIF, &link, sizeof(link));
	return send_messages(&messages);
}

REDTEAM_INSIDE(inside, use_own_network)

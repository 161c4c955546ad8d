// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: puts a queue with rules of its own before the loopback of a network of its own
 * Hook: netlink_send
 * Errno: EPERM
 * Control: brings the loopback up there, and gives it one more address
 * Record: capable $ANYNET_ADMIN$ANY
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include <linux/pkt_sched.h>

#include "tests/redteam/netlink.h"

static int inside(void)
{
	struct messages messages = {};
	struct tcmsg *queue;

	enter_sandbox(CLONE_NEWNET);
	queue = add_message(&messages, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, sizeof(*queue));
	*queue = (struct tcmsg){
		.tcm_ifindex = LOOPBACK, .tcm_parent = TC_H_ROOT, .tcm_handle = 0x10000};
	add_attribute(&messages, TCA_KIND, "pfifo", sizeof("pfifo"));
	return send_messages(&messages);
}

REDTEAM_INSIDE(inside, use_own_network)

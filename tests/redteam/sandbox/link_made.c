// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes links in a network of its own, as tunnels are made
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

	enter_sandbox(CLONE_NEWNET);
	add_link(&messages, "veth");
	return send_messages(&messages);
}

REDTEAM_INSIDE(inside, use_own_network)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes links in a network of its own, by a message that is sent behind harmless ones
 * Hook: netlink_send
 * Errno: EPERM
 * Control: sends harmless ones
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
	add_look(&messages);
	add_link_up(&messages);
	add_link(&messages, "veth");
	return send_messages(&messages);
}

REDTEAM_INSIDE(inside, use_own_network)

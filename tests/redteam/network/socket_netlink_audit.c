// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes an audit socket
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes a socket for what is allowed
 * Record: socket netlink/raw/$ANY
 */
#include <linux/netlink.h>
#include <sys/socket.h>

#include "tests/redteam/net.h"

static int attack(void)
{
	return try_socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT);
}

static int control(void)
{
	return try_socket(AF_INET, SOCK_STREAM, 0);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a raw IPv6 socket
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes a socket for what is allowed
 * Record: socket inet6/raw/$ANY
 * As: root
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);
}

static int control(void)
{
	return try_socket(AF_INET, SOCK_STREAM, 0);
}

REDTEAM(.attack = attack, .control = control)

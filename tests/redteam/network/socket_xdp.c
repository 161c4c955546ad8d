// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes an XDP socket
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes a socket for what is allowed
 * Record: socket xdp/raw/$ANY
 * As: root
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_socket(AF_XDP, SOCK_RAW, 0);
}

static int control(void)
{
	return try_socket(AF_INET, SOCK_STREAM, 0);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes an SCTP socket
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes a TCP or UDP socket
 * Record: socket $ANY
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
}

static int control(void)
{
	return try_socket(AF_INET, SOCK_STREAM, 0);
}

REDTEAM(.attack = attack, .control = control)

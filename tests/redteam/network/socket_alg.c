// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a kernel crypto socket
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes a socket for what is allowed
 * Record: socket alg/seqpacket/$ANY
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_socket(AF_ALG, SOCK_SEQPACKET, 0);
}

static int control(void)
{
	return try_socket(AF_INET, SOCK_STREAM, 0);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes an SMC socket as a protocol of the internet family
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes a socket for what is allowed
 * Record: socket inet/stream/$ANY
 * Needs: module net-pf-2-proto-256-type-1
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_socket(AF_INET, SOCK_STREAM, 256 /* IPPROTO_SMC */);
}

static int control(void)
{
	return try_socket(AF_INET, SOCK_STREAM, 0);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes an SMC socket, whose connections the kernel makes
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes a socket for what is allowed
 * Record: socket 43/stream/$ANY
 * As: root bare user
 * Needs: module smc
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_socket(AF_SMC, SOCK_STREAM, 0);
}

static int control(void)
{
	return try_socket(AF_INET, SOCK_STREAM, 0);
}

REDTEAM(.attack = attack, .control = control)

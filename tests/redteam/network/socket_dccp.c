// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a DCCP socket
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes a TCP or UDP socket
 * Record: socket $ANY
 * Needs: module dccp_ipv4
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_socket(AF_INET, SOCK_DCCP, IPPROTO_DCCP);
}

static int control(void)
{
	return try_socket(AF_INET, SOCK_DGRAM, 0);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a UDP-Lite socket
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes a TCP or UDP socket
 * Record: socket $ANY
 * Needs: symbol udplite_prot
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_socket(AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE);
}

static int control(void)
{
	return try_socket(AF_INET, SOCK_DGRAM, 0);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the kernel tell the network about a group of its choice, on a TCP socket
 * Hook: socket_setsockopt
 * Errno: EACCES
 * Control: sets how far datagrams to groups go
 * Record: socket $ANY
 * As: root bare user
 */
#include "tests/redteam/group.h"

static int attack(void)
{
	return join_group(AF_INET, SOCK_STREAM, SOL_IP, address_v4(GROUP_V4, 0));
}

static int control(void)
{
	return set_group_hops(AF_INET, SOCK_DGRAM);
}

REDTEAM(.attack = attack, .control = control)

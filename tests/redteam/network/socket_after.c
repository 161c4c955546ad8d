// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a socket of another family right after one that it may make
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes the one that it may make again
 * Record: socket $ANY
 */
#include "tests/redteam/net.h"

static int make_after(int family)
{
	int error = try_socket(AF_INET, SOCK_DGRAM, 0);

	return error ? error : try_socket(family, SOCK_DGRAM, 0);
}

static int attack(void)
{
	return make_after(AF_NETLINK);
}

static int control(void)
{
	return make_after(AF_INET);
}

REDTEAM(.attack = attack, .control = control)

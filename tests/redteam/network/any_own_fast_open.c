// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches the host by its own address with TCP fast open
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: reaches an address outside so
 * Record: send 198.51.100.1:7106
 */
#include "tests/redteam/net.h"

static int fast_open(const char *ip)
{
	struct address address = address_v4(ip, PORT_ANYWHERE);
	int fd = socket_or_broken(AF_INET, SOCK_STREAM), error;

	error = outcome(sendto(fd, "x", 1, MSG_FASTOPEN, &address.any, address.length));
	close(fd);
	return error;
}

static int attack(void)
{
	return fast_open(OWN_V4);
}

static int control(void)
{
	return fast_open(OUTSIDE_V4);
}

REDTEAM(.attack = attack, .control = control)

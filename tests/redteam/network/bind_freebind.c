// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: binds an address that is not there yet
 * Hook: socket_bind
 * Errno: EACCES
 * Control: binds the allowed address with the same option
 * Record: bind 203.0.113.5:7103
 */
#include "tests/redteam/net.h"

/* An address that the host does not have. */
static int bind_foreign(const char *ip)
{
	struct address address = address_v4(ip, PORT_OWN);
	int fd = socket_or_broken(AF_INET, SOCK_STREAM), one = 1, error;

	NEED(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	NEED(setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &one, sizeof(one)));
	error = outcome(bind(fd, &address.any, address.length));
	close(fd);
	return error;
}

static int attack(void)
{
	return bind_foreign("203.0.113.5");
}

static int control(void)
{
	return bind_foreign("127.0.0.1");
}

REDTEAM(.attack = attack, .control = control)

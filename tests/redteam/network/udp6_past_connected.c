// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends elsewhere over IPv6 from a socket connected to what is allowed
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: sends to where it is connected
 * Record: send [::1]:7102
 */
#include "tests/redteam/net.h"

static int send_connected(int port)
{
	struct address good = address_v6("::1", PORT_ALLOWED), to = address_v6("::1", port);
	int fd = socket_or_broken(AF_INET6, SOCK_DGRAM);

	NEED(connect(fd, &good.any, good.length));
	return outcome(sendto(fd, "x", 1, 0, &to.any, to.length));
}

static int attack(void)
{
	return send_connected(PORT_FORBIDDEN);
}

static int control(void)
{
	return send_connected(PORT_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

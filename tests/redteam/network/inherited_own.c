// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reaches the host by its own address from a datagram socket that was made before it began
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: reaches an address outside from it
 * Record: send 198.51.100.1:7106
 * As: root+outside user+outside
 */
#include "tests/redteam/net.h"

static int send_to(const char *ip)
{
	struct address address = address_v4(ip, PORT_ANYWHERE);

	return outcome(sendto(atoi(setting("REDTEAM_UNCONNECTED")), "x", 1, 0, &address.any,
			      address.length));
}

static int attack(void)
{
	return send_to(OWN_V4);
}

static int control(void)
{
	return send_to(OUTSIDE_V4);
}

REDTEAM(.attack = attack, .control = control)

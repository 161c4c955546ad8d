// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends elsewhere from a socket connected to what is allowed
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: uses its own file
 * Record: send 127.0.0.1:7102
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	struct address good = address_v4("127.0.0.1", PORT_ALLOWED),
		       bad = address_v4("127.0.0.1", PORT_FORBIDDEN);
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM);

	NEED(connect(fd, &good.any, good.length));
	return outcome(sendto(fd, "x", 1, 0, &bad.any, bad.length));
}

REDTEAM(.attack = attack)

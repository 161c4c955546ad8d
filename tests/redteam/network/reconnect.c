// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: dissolves an allowed association and makes another
 * Hook: socket_connect
 * Errno: EACCES
 * Control: uses its own file
 * Record: connect 127.0.0.1:7102
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	struct address good = address_v4("127.0.0.1", PORT_ALLOWED),
		       bad = address_v4("127.0.0.1", PORT_FORBIDDEN);
	struct address none = {.any.sa_family = AF_UNSPEC, .length = sizeof(struct sockaddr_in)};
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM);

	NEED(connect(fd, &good.any, good.length));
	NEED(connect(fd, &none.any, none.length));
	return outcome(connect(fd, &bad.any, bad.length));
}

REDTEAM(.attack = attack)

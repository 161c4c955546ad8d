// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects by sending (TCP fast open)
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: connects so to the allowed port
 * Record: send 127.0.0.1:7102
 */
#include "tests/redteam/net.h"

static int open_fast(int port)
{
	struct address address = address_v4("127.0.0.1", port);
	int fd = socket_or_broken(AF_INET, SOCK_STREAM);

	return outcome(sendto(fd, "x", 1, MSG_FASTOPEN, &address.any, address.length));
}

static int attack(void)
{
	return open_fast(PORT_FORBIDDEN);
}

static int control(void)
{
	return open_fast(PORT_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)

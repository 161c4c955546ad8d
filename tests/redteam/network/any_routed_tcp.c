// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects to an address that is the host's by a route alone: no answer comes
 * Hook: (packet)
 * Errno: EINPROGRESS
 * Control: connects outside
 * Record: packet 203.0.113.9:7106 as EPERM
 */
#include "tests/redteam/net.h"

#define PATIENCE_SECONDS 3

static int connect_with_patience(const char *ip)
{
	struct address address = address_v4(ip, PORT_ANYWHERE);
	int fd = socket_or_broken(AF_INET, SOCK_STREAM), error;
	struct timeval patience = {.tv_sec = PATIENCE_SECONDS};

	NEED(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)));
	error = outcome(connect(fd, &address.any, address.length));
	close(fd);
	return error;
}

static int attack(void)
{
	return connect_with_patience(ROUTED_V4);
}

static int control(void)
{
	return connect_with_patience(OUTSIDE_V4);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects to an abstract unix socket outside
 * Hook: unix_stream_connect
 * Errno: EACCES
 * Control: uses a pair of its own
 * Record: connect $ANYredteam-host
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_abstract("redteam-host"));
}

static int control(void)
{
	int fd = socket_or_broken(AF_UNIX, SOCK_STREAM), ends[2];

	close(fd);
	return outcome(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}

REDTEAM(.attack = attack, .control = control)

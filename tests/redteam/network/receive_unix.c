// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a connection to a unix socket of the host
 * Hook: file_receive
 * Errno: EACCES
 * Control: receives one to an allowed socket
 * Record: receive $HOST/stream
 */
#include "tests/redteam/net.h"

static int receive(const char *path)
{
	char what[PATH_SIZE];

	snprintf(what, sizeof(what), "socket:unix:%s", path);
	return use_received(what);
}

static int attack(void)
{
	return receive(host_place("stream"));
}

static int control(void)
{
	return receive(open_place("stream"));
}

REDTEAM(.attack = attack, .control = control)

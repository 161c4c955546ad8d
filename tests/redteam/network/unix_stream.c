// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects to a unix socket outside
 * Hook: unix_stream_connect
 * Errno: EACCES
 * Control: connects to an allowed one
 * Record: connect $HOST/stream
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_STREAM, address_path(host_place("stream")));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_path(open_place("stream")));
}

REDTEAM(.attack = attack, .control = control)

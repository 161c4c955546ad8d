// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects to a unix socket outside through a link
 * Hook: unix_stream_connect
 * Errno: EACCES
 * Control: connects to an allowed one so
 * Record: connect $HOST/stream
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	NEED(symlink(host_place("stream"), "socket"));
	return try_connect(SOCK_STREAM, address_path("socket"));
}

static int control(void)
{
	NEED(symlink(open_place("stream"), "good"));
	return try_connect(SOCK_STREAM, address_path("good"));
}

REDTEAM(.attack = attack, .control = control)

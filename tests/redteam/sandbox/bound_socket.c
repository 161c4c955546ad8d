// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects to a socket outside by another name of its directory
 * Hook: unix_stream_connect
 * Errno: EACCES
 * Control: connects to an allowed one by such a name
 * Record: connect $HOST/stream
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/net.h"
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_with(host_place(""), "here");
	return try_connect(SOCK_STREAM, address_path("here/stream"));
}

static int allowed(void)
{
	enter_with(open_place(""), "here");
	return try_connect(SOCK_STREAM, address_path("here/stream"));
}

REDTEAM_INSIDE(inside, allowed)

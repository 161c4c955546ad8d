// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: binds a unix socket to a path outside
 * Hook: path_mknod
 * Errno: EACCES
 * Control: binds one in its directory
 * Record: mknod $VICTIM/dir/socket
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_bind(SOCK_STREAM, address_path(victim("dir/socket")));
}

static int control(void)
{
	return try_bind(SOCK_STREAM, address_path("socket"));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: binds a unix socket to a path outside through io_uring
 * Hook: path_mknod
 * Errno: EACCES
 * Control: binds one in its directory so
 * Record: mknod $VICTIM/dir/socket
 * Needs: symbol io_bind
 */
#include "tests/redteam/net.h"
#include "tests/redteam/uring.h"

static int bind_by_ring(const char *path)
{
	struct address address = address_path(path);

	return uring_once((struct io_uring_sqe){.opcode = RING_BIND,
						.fd = socket_or_broken(AF_UNIX, SOCK_STREAM),
						.addr = (unsigned long)&address.any,
						.off = address.length});
}

static int attack(void)
{
	return bind_by_ring(victim("dir/socket"));
}

static int control(void)
{
	return bind_by_ring("socket");
}

REDTEAM(.attack = attack, .control = control)

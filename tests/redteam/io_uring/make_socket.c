// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a socket of a forbidden kind through io_uring
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes an allowed one so
 * Record: socket $ANY
 */
#include <sys/socket.h>

#include "tests/redteam/uring.h"

static int make(int family, int type)
{
	return uring_once((struct io_uring_sqe){
		.opcode = IORING_OP_SOCKET, .fd = family, .off = type, .len = 0});
}

static int attack(void)
{
	return make(AF_NETLINK, SOCK_RAW);
}

static int control(void)
{
	return make(AF_UNIX, SOCK_STREAM);
}

REDTEAM(.attack = attack, .control = control)

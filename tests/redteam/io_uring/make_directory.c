// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a directory outside through io_uring
 * Hook: path_mkdir
 * Errno: EACCES
 * Control: makes one of its own so
 * Record: mkdir $VICTIM/dir/new
 */
#include "tests/redteam/uring.h"

static int make(const char *path)
{
	return uring_once((struct io_uring_sqe){.opcode = IORING_OP_MKDIRAT,
						.fd = AT_FDCWD,
						.addr = (unsigned long)path,
						.len = 0755});
}

static int attack(void)
{
	return make(victim("dir/new"));
}

static int control(void)
{
	return make("new");
}

REDTEAM(.attack = attack, .control = control)

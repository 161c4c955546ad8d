// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a link outside through io_uring
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes one of its own so
 * Record: symlink $VICTIM/dir/new
 */
#include "tests/redteam/uring.h"

static int make(const char *path)
{
	return uring_once((struct io_uring_sqe){.opcode = IORING_OP_SYMLINKAT,
						.fd = AT_FDCWD,
						.addr = (unsigned long)"own",
						.addr2 = (unsigned long)path});
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

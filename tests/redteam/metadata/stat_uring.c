// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: asks for the attributes of a file outside through io_uring
 * Hook: inode_getattr
 * Errno: EACCES
 * Control: asks for those of its own so
 * Record: metadata $VICTIM/secret
 * As: root+metadata user+metadata
 */
#include "tests/redteam/uring.h"

static int look(const char *path)
{
	static struct statx status;

	return uring_once((struct io_uring_sqe){.opcode = IORING_OP_STATX,
						.fd = AT_FDCWD,
						.addr = (__u64)(unsigned long)path,
						.len = STATX_ALL,
						.off = (__u64)(unsigned long)&status});
}

static int attack(void)
{
	return look(victim("secret"));
}

static int control(void)
{
	return look("own");
}

REDTEAM(.attack = attack, .control = control)

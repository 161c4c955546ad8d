// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves a file from outside through io_uring
 * Hook: path_rename
 * Errno: EACCES
 * Control: uses its own file
 * Record: rename $VICTIM/secret
 */
#include "tests/redteam/uring.h"

static int attack(void)
{
	return uring_once((struct io_uring_sqe){.opcode = IORING_OP_RENAMEAT,
						.fd = AT_FDCWD,
						.len = AT_FDCWD,
						.addr = (unsigned long)victim("secret"),
						.addr2 = (unsigned long)"taken"});
}

REDTEAM(.attack = attack)

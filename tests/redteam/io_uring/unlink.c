// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: deletes a file outside through io_uring
 * Hook: path_unlink
 * Errno: EACCES
 * Control: uses its own file
 * Record: unlink $VICTIM/secret
 */
#include "tests/redteam/uring.h"

static int attack(void)
{
	return uring_once((struct io_uring_sqe){.opcode = IORING_OP_UNLINKAT,
						.fd = AT_FDCWD,
						.addr = (unsigned long)victim("secret")});
}

REDTEAM(.attack = attack)

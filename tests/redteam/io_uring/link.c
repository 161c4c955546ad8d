// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: links a file outside through io_uring
 * Hook: path_link
 * Errno: EXDEV
 * Control: uses its own file
 * Record: link $WORK/inside
 */
#include "tests/redteam/uring.h"

static int attack(void)
{
	return uring_once((struct io_uring_sqe){.opcode = IORING_OP_LINKAT,
						.fd = AT_FDCWD,
						.len = AT_FDCWD,
						.addr = (unsigned long)victim("secret"),
						.addr2 = (unsigned long)"inside"});
}

REDTEAM(.attack = attack)

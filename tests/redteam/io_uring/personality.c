// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has a request done with credentials that it kept in the ring
 * Hook: uring_override_creds
 * Errno: EPERM
 * Control: has it done with its own
 * Record: io_uring $ANY
 */
#include "tests/redteam/uring.h"

static int request(bool kept)
{
	struct io_uring_sqe entry = {.opcode = IORING_OP_NOP};
	struct uring ring;
	int result = uring_open(&ring, 0);

	if (result)
		broken("io_uring_setup");
	if (kept)
		entry.personality = NEED(syscall(SYS_io_uring_register, ring.fd,
						 IORING_REGISTER_PERSONALITY, NULL, 0));
	result = uring_request(&ring, entry);
	close(ring.fd);
	return result < 0 ? -result : 0;
}

static int attack(void)
{
	return request(true);
}

static int control(void)
{
	return request(false);
}

REDTEAM(.attack = attack, .control = control)

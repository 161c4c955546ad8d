// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: splices what a connection that was open before it began receives into a pipe, through
 *   io_uring
 * Hook: file_permission
 * Errno: EACCES
 * Control: the same by a connection to where the policy leads
 * Record: receive 127.0.0.1:7109
 * As: root+outside user+outside
 */
#include "tests/redteam/inherited.h"
#include "tests/redteam/uring.h"

static int use(int fd)
{
	int pipes[2], error;

	NEED(pipe2(pipes, O_CLOEXEC));
	error = uring_once((struct io_uring_sqe){
		.opcode = IORING_OP_SPLICE,
		.fd = pipes[1],
		.off = ~0ull,
		.splice_fd_in = fd,
		.splice_off_in = ~0ull,
		.len = 1,
	});
	close(pipes[0]);
	close(pipes[1]);
	return error;
}

static int attack(void)
{
	return use(inherited(INHERITED_FORBIDDEN));
}

static int control(void)
{
	return use(inherited(INHERITED_ALLOWED));
}

REDTEAM(.attack = attack, .control = control)

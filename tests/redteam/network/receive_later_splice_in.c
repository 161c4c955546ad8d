// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a socket before the host connects it to a forbidden port, and splices what comes
 *   into a pipe
 * Hook: file_permission
 * Errno: EACCES
 * Control: the same by one that is then connected to the allowed port
 * Record: receive 127.0.0.1:7102
 */
#include "tests/redteam/later.h"

static int use(int fd)
{
	int pipes[2], error;

	NEED(pipe2(pipes, O_CLOEXEC));
	error = outcome(splice(fd, NULL, pipes[1], NULL, 1, 0));
	close(pipes[0]);
	close(pipes[1]);
	return error;
}

static int attack(void)
{
	return use_later(LATER_FORBIDDEN, use);
}

static int control(void)
{
	return use_later(LATER_ALLOWED, use);
}

REDTEAM(.attack = attack, .control = control)

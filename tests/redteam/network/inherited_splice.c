// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: splices a pipe into a connection that was open before it began
 * Hook: file_permission
 * Errno: EACCES
 * Control: the same by a connection to where the policy leads
 * Record: send 127.0.0.1:7109
 * As: root+outside user+outside
 */
#include "tests/redteam/inherited.h"

static int use(int fd)
{
	int pipes[2], error;

	NEED(pipe2(pipes, O_CLOEXEC));
	NEED(write(pipes[1], "x", 1));
	error = outcome(splice(pipes[0], NULL, fd, NULL, 1, 0));
	close(pipes[0]);
	close(pipes[1]);
	return error;
}

REDTEAM_INHERITED(use)

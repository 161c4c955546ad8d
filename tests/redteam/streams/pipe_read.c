// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a pipe that it has for writing, as standard output is, to read the output of others
 * Hook: file_open
 * Errno: EACCES
 * Control: opens it for writing, truncated or appended to as a shell's redirection does, and reads
 *   a pipe of the execution that it has for writing
 * Record: open $ANY
 * As: root bare user
 */
#include "tests/redteam/streams.h"

static int read_from_it(int fd)
{
	return open_again(fd, O_RDONLY);
}

static int attack(void)
{
	return with_pipe_from_outside(1, read_from_it);
}

static int redirect_to_it(int fd)
{
	int error = open_again(fd, O_WRONLY | O_CREAT | O_TRUNC);

	return error ? error : open_again(fd, O_WRONLY | O_CREAT | O_APPEND);
}

static int control(void)
{
	int error = with_pipe_from_outside(1, redirect_to_it);

	return error ? error : with_own_pipe(1, read_from_it);
}

REDTEAM(.attack = attack, .control = control)

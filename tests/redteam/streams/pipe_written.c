// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a pipe that it has for reading, as standard input is, to write commands for
 *   the next reader into it
 * Hook: file_open
 * Errno: EACCES
 * Control: opens it for reading, and writes into a pipe of the execution that it has for reading
 * Record: open $ANY
 * As: root bare user
 */
#include "tests/redteam/streams.h"

static int write_to_it(int fd)
{
	return open_again(fd, O_WRONLY);
}

static int attack(void)
{
	return with_pipe_from_outside(0, write_to_it);
}

static int read_from_it(int fd)
{
	return open_again(fd, O_RDONLY);
}

static int control(void)
{
	int error = with_pipe_from_outside(0, read_from_it);

	return error ? error : with_own_pipe(0, write_to_it);
}

REDTEAM(.attack = attack, .control = control)

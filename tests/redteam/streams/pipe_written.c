// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a pipe that it has for reading, as standard input is, to write into it what the
 *   next reader runs
 * Hook: file_open
 * Errno: EACCES
 * Control: opens it anew for reading, and for both where it has both ends
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
	return with_end_of_pipe(0, write_to_it);
}

static int read_from_it(int fd)
{
	return open_again(fd, O_RDONLY);
}

static int control(void)
{
	int ends[2], error = with_end_of_pipe(0, read_from_it);

	NEED(pipe(ends));
	return error ? error : open_again(ends[0], O_RDWR);
}

REDTEAM(.attack = attack, .control = control)

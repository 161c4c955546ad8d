// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a pipe that it has for reading to read and to write
 * Hook: file_open
 * Errno: EACCES
 * Control: opens one that it can write to for writing
 * Record: open $ANY
 * As: root bare user
 */
#include "tests/redteam/streams.h"

static int open_for_both(int fd)
{
	return open_again(fd, O_RDWR);
}

static int attack(void)
{
	return with_end_of_pipe(0, open_for_both);
}

static int write_to_it(int fd)
{
	return open_again(fd, O_WRONLY);
}

static int control(void)
{
	return with_end_of_pipe(1, write_to_it);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a pipe from outside that it has for reading to read and to write
 * Hook: file_open
 * Errno: EACCES
 * Control: does so with a pipe of the execution
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
	return with_pipe_from_outside(0, open_for_both);
}

static int control(void)
{
	return with_own_pipe(0, open_for_both);
}

REDTEAM(.attack = attack, .control = control)

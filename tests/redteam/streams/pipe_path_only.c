// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: holds a pipe from outside by O_PATH, which is no access, and opens it for writing
 * Hook: file_open
 * Errno: EACCES
 * Control: does so where it has the writing end besides
 * Record: open $ANY
 * As: root bare user
 */
#include "tests/redteam/streams.h"

static int write_by_path(int fd)
{
	return open_again(NEED(open(descriptor_path(fd), O_PATH)), O_WRONLY);
}

static int attack(void)
{
	return with_pipe_from_outside(0, write_by_path);
}

static int control(void)
{
	return with_pipe_from_outside(1, write_by_path);
}

REDTEAM(.attack = attack, .control = control)

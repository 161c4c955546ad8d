// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a memory file that it has for reading to write to it
 * Hook: file_open
 * Errno: EACCES
 * Control: opens it anew for reading, and one of its own for writing
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
	return with_readable_memory(write_to_it);
}

static int read_from_it(int fd)
{
	return open_again(fd, O_RDONLY);
}

static int control(void)
{
	int error = with_readable_memory(read_from_it);

	return error ? error : open_again(NEED(memfd_create("own", 0)), O_RDWR | O_TRUNC);
}

REDTEAM(.attack = attack, .control = control)

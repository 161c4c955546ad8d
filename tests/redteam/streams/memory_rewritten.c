// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: writes over what stands in a memory file that it has to append to
 * Hook: file_fcntl
 * Errno: EACCES
 * Control: appends to it, and writes over what stands in its own
 * Record: open $ANY
 * As: root bare user
 */
#include "tests/redteam/streams.h"

static int write_over(int fd)
{
	return fcntl(fd, F_SETFL, 0) < 0 ? errno : outcome(pwrite(fd, "mine", 4, 0));
}

static int attack(void)
{
	return with_memory(O_WRONLY | O_APPEND, write_over);
}

static int append(int fd)
{
	return outcome(write(fd, "mine", 4));
}

static int control(void)
{
	int error = with_memory(O_WRONLY | O_APPEND, append);

	return error ? error : write_over(NEED(memfd_create("own", 0)));
}

REDTEAM(.attack = attack, .control = control)

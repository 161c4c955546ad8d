// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a pipe that somebody outside has handed over for reading to write into it
 * Hook: file_open
 * Errno: EACCES
 * Control: opens it anew for reading
 * Record: open $ANY
 * As: root bare user
 */
#include "tests/redteam/net.h"
#include "tests/redteam/streams.h"

static int receive_and_open(int flags)
{
	int fd = NEED(receive_descriptor("socket:owned:")), error = open_again(fd, flags);

	close(fd);
	return error;
}

static int attack(void)
{
	return receive_and_open(O_WRONLY);
}

static int control(void)
{
	return receive_and_open(O_RDONLY);
}

REDTEAM(.attack = attack, .control = control)

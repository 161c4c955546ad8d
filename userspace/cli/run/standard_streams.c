/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps standard input, output and error as they were from a program's start to its end. */
#include "cli/run/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/term/terminal.h"

int standard_streams_hold(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest free one is this one. */
		if (open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
			return -EBADF;
	}
	return 0;
}

int standard_streams_leave_input(void)
{
	_cleanup_(closep) int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
		return -errno;
	return 0;
}

int standard_streams_finish(int status)
{
	return terminal_finish(stdout, status);
}

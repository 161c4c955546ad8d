/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "cli/term/message.h"

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

int standard_streams_finish(int status)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		message("cannot write to standard output: %m");
		return status ? status : 1;
	}
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that came from others, and must not be closed by a process that others wait for. */
#include "daemon/peer/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/host/process.h"

bool foreign_may_hang(int fd)
{
	struct statx is;
	int flags = fcntl(fd, F_GETFL);
	pid_t ignored;

	if (flags >= 0 && (flags & O_PATH))
		return false;
	/* As the kernel knows it: nobody is asked. */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &is) == 0 &&
	    S_ISDIR(is.stx_mode))
		return false;
	return process_of_pidfd(fd, &ignored) == -EBADF;
}

size_t foreign_set_aside(struct protocol_fds *fds)
{
	size_t left = 0, aside;

	for (size_t i = 0; i < fds->count; i++)
		if (!foreign_may_hang(fds->fd[i]))
			fds->fd[left++] = fds->fd[i];
	aside = fds->count - left;
	fds->count = left;
	return aside;
}

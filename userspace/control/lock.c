/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the locks below /run/cordon, which ensure that only one daemon runs or starts. */
#include "control/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "control/protocol.h"

static int open_run_directory(int *ret_fd, struct failure *failure)
{
	_cleanup_(closep) int fd = -1;
	struct stat found;

	if (mkdir(PROTOCOL_DIRECTORY, 0755) < 0 && errno != EEXIST)
		return failure_set(failure, errno, "cannot make %s: %m", PROTOCOL_DIRECTORY);
	fd = open(PROTOCOL_DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &found) < 0)
		return failure_set(failure, errno, "cannot open %s: %m", PROTOCOL_DIRECTORY);
	if (found.st_uid != 0 || (found.st_mode & 022) != 0)
		return failure_set(failure, EPERM,
				   "%s must belong to root and be writable only by root; remove "
				   "it, it is made anew",
				   PROTOCOL_DIRECTORY);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int lock_take(const char *name, bool wait, int *ret_fd, struct failure *failure)
{
	_cleanup_(closep) int dir_fd = -1, fd = -1;
	int r = open_run_directory(&dir_fd, failure);

	if (r < 0)
		return r;
	fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return failure_set(failure, errno, "cannot open %s/%s: %m", PROTOCOL_DIRECTORY,
				   name);
	do {
		r = flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB));
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return failure_set(failure, errno, "cannot lock %s/%s: %m", PROTOCOL_DIRECTORY,
				   name);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int lock_subdirectory(const char *name, int *ret_fd, struct failure *failure)
{
	_cleanup_(closep) int dir_fd = -1, fd = -1;
	int r = open_run_directory(&dir_fd, failure);

	if (r < 0)
		return r;
	if (mkdirat(dir_fd, name, 0700) < 0 && errno != EEXIST)
		return failure_set(failure, errno, "cannot make %s/%s: %m", PROTOCOL_DIRECTORY,
				   name);
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return failure_set(failure, errno, "cannot open %s/%s: %m", PROTOCOL_DIRECTORY,
				   name);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares the caller's standard streams for a command. */
#include "launch/streams.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>

#include "base/cleanup.h"

/*
 * Terminals that an open of their device node opens again, unlike ptmx. Numbers from
 * Documentation/admin-guide/devices.txt.
 */
#define MAJOR_TTY     4u
#define MAJOR_PTS     136u
#define MAJOR_PTS_END 144u

static bool is_terminal_device(dev_t device)
{
	return major(device) == MAJOR_TTY ||
	       (major(device) >= MAJOR_PTS && major(device) < MAJOR_PTS_END);
}

static bool may_be_its_own(int fd, int flags)
{
	struct stat st;

	if ((flags & O_PATH) || fstat(fd, &st) < 0)
		return false;
	if (S_ISREG(st.st_mode))
		return (flags & O_ACCMODE) == O_RDONLY;
	/* Packet boundaries depend on a flag that an existing pipe cannot get again. */
	return (S_ISFIFO(st.st_mode) && !(flags & O_DIRECT)) ||
	       (S_ISCHR(st.st_mode) && is_terminal_device(st.st_rdev));
}

/* Copies the file offset. Succeeds for objects without one. */
static bool goes_on_from(int own, int fd)
{
	off_t place = lseek(fd, 0, SEEK_CUR);

	if (place < 0)
		return errno == ESPIPE;
	return lseek(own, place, SEEK_SET) == place;
}

/* Opens a descriptor's object again. Returns -1 on any error: the stream is then shared. */
static int open_again(int fd)
{
	int flags = fcntl(fd, F_GETFL), on_exec = fcntl(fd, F_GETFD);
	_cleanup_(closep) int own = -1;
	char path[32];

	/* A close-on-exec descriptor only reserves the number. */
	if (flags < 0 || on_exec < 0 || (on_exec & FD_CLOEXEC) || !may_be_its_own(fd, flags))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/*
	 * Nonblocking, because opening a pipe without a reader, or a terminal without a carrier,
	 * would wait.
	 */
	own = open(path, (flags & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own < 0 || fcntl(own, F_SETFL, flags) < 0 || !goes_on_from(own, fd))
		return -1;
	return TAKE_FD(own);
}

void streams_open(int ret_fds[STREAM_COUNT])
{
	for (int fd = 0; fd < STREAM_COUNT; fd++)
		ret_fds[fd] = open_again(fd);
}

bool streams_share_place(int fd, const int fds[STREAM_COUNT])
{
	int flags = fcntl(fd, F_GETFL), on_exec = fcntl(fd, F_GETFD);
	struct stat st;

	return fds[fd] < 0 && flags >= 0 && !(on_exec & FD_CLOEXEC) && !(flags & O_PATH) &&
	       (flags & O_ACCMODE) == O_RDONLY && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

bool streams_append(void)
{
	for (int fd = 0; fd < STREAM_COUNT; fd++) {
		int flags = fcntl(fd, F_GETFL);
		struct stat st;

		if (flags >= 0 && (flags & O_APPEND) && (flags & O_ACCMODE) != O_RDONLY &&
		    fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
			return true;
	}
	return false;
}

void streams_close(int fds[STREAM_COUNT])
{
	for (int i = 0; i < STREAM_COUNT; i++) {
		closep(&fds[i]);
		fds[i] = -1;
	}
}

/*
 * The kernel returns a terminal's session only to tasks with this controlling terminal; for a
 * pseudo-terminal's master side it returns it to all tasks.
 */
static bool is_controlling_terminal(int fd)
{
	return tcgetsid(fd) == getsid(0);
}

int streams_leave_terminal(void)
{
	_cleanup_(closep) int terminal =
		open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (terminal < 0 && (errno == ENXIO || errno == ENOTTY))
		return 0;
	for (int fd = 0; fd < STREAM_COUNT; fd++)
		if (is_controlling_terminal(fd))
			return 0;
	if (terminal >= 0 && ioctl(terminal, TIOCNOTTY) == 0)
		return 0;
	/* The terminal could not be opened by name and left. A new session has no terminal. */
	return setsid() < 0 ? -errno : 0;
}

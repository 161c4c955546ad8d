/* SPDX-License-Identifier: Apache-2.0 */
/* Starts this program once more, with a socket and an empty root, and nothing else. */
#include "daemon/privsep/helper.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/cleanup.h"

static int spawn(char *option, int socket_fd, int directory_fd, pid_t *ret_pid)
{
	char *const argv[] = {(char[]){"cordon"}, (char[]){"daemon"}, option, NULL};
	char *const environment[] = {(char[]){"LC_ALL=C.UTF-8"}, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int r;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	(void)((r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK)) ||
	       (r = posix_spawnattr_setsigmask(&attributes, &none)) ||
	       (r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)) ||
	       (r = posix_spawn_file_actions_adddup2(&actions, 0, 1)) ||
	       (r = posix_spawn_file_actions_adddup2(&actions, socket_fd, HELPER_SOCKET_FD)) ||
	       (r = posix_spawn_file_actions_adddup2(&actions, directory_fd,
						     HELPER_DIRECTORY_FD)) ||
	       (r = posix_spawn_file_actions_addclosefrom_np(&actions, HELPER_DIRECTORY_FD + 1)) ||
	       (r = posix_spawn(ret_pid, "/proc/self/exe", &actions, &attributes, argv,
				environment)));
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int helper_set_patience(int fd, time_t seconds)
{
	const struct timeval patience = {.tv_sec = seconds};

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
			       setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
					  sizeof(patience)) < 0
		       ? -errno
		       : 0;
}

/* Out of the way of the numbers that the process gets them by. */
static int move_up(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, HELPER_DIRECTORY_FD + 1);

	closep(&fd);
	return moved < 0 ? -errno : moved;
}

int helper_start(const char *option, int directory_fd, time_t patience, pid_t *ret_pid, int *ret_fd)
{
	_cleanup_(closep) int ours = -1, its = -1, its_directory = -1;
	_cleanup_(freep) char *copy = strdup(option);
	int ends[2], r;

	if (!copy)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	ours = ends[0];
	its = move_up(ends[1]);
	its_directory = move_up(fcntl(directory_fd, F_DUPFD_CLOEXEC, 0));
	if (its < 0 || its_directory < 0)
		return its < 0 ? its : its_directory;
	r = helper_set_patience(ours, patience);
	if (r == 0)
		r = spawn(copy, its, its_directory, ret_pid);
	if (r == 0)
		*ret_fd = TAKE_FD(ours);
	return r;
}

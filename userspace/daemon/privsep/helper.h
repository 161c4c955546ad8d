/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helper processes for work that needs no privileges. They run the daemon's program, with a stream
 * socket to the daemon, a directory that becomes their root, and no other descriptor. They exit
 * when the socket is closed.
 */
#ifndef CORDON_DAEMON_HELPER_H
#define CORDON_DAEMON_HELPER_H

#include <sys/types.h>

#define HELPER_SOCKET_FD    3
#define HELPER_DIRECTORY_FD 4

/*
 * Runs `cordon daemon OPTION`. Reads and writes of *ret_fd fail with -EAGAIN after `patience`
 * seconds. Returns 0, or -errno. The caller owns *ret_fd, and reaps *ret_pid.
 */
int helper_start(const char *option, int directory_fd, time_t patience, pid_t *ret_pid,
		 int *ret_fd);
int helper_set_patience(int fd, time_t seconds);

#endif

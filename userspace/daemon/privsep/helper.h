/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that do for the daemon what needs no privileges: the same program, with a stream socket
 * to the daemon and a directory that is to be its root, and no other descriptor. They end when the
 * socket is closed.
 */
#ifndef CORDON_DAEMON_HELPER_H
#define CORDON_DAEMON_HELPER_H

#include <sys/types.h>

#define HELPER_SOCKET_FD    3
#define HELPER_DIRECTORY_FD 4

/*
 * `cordon daemon OPTION`. Reading and writing at *ret_fd give up after so many seconds (-EAGAIN).
 * -errno.
 */
int helper_start(const char *option, int directory_fd, time_t patience, pid_t *ret_pid,
		 int *ret_fd);
int helper_set_patience(int fd, time_t seconds);

#endif

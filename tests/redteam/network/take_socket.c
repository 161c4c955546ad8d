// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a socket of a process outside by its pidfd
 * Hook: ptrace_access_check
 * Errno: EPERM
 * Control: makes and uses one of its own
 * Record: trace process $PID
 */
#include "tests/redteam/net.h"

static int take(pid_t pid, int number)
{
	int pidfd = NEED(syscall(SYS_pidfd_open, pid, 0));
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0), error = outcome(fd), type;
	socklen_t size = sizeof(type);

	if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		broken("it is no socket");
	close(pidfd);
	close(fd);
	return error;
}

/* The first that the host made: it listens on a forbidden port, too. */
static int attack(void)
{
	return take(host_pid(), 3);
}

static int control(void)
{
	return take(getpid(), socket_or_broken(AF_INET, SOCK_STREAM));
}

REDTEAM(.attack = attack, .control = control)

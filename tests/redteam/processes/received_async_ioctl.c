// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a pipe whose signals go to a process outside, and has it send them by ioctl
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: does so with a pipe of its own
 * Record: signal $ANY
 */
#include <sys/ioctl.h>

#include "tests/redteam/net.h"

static int attack(void)
{
	int fd = receive_descriptor("socket:owned:");

	return fd < 0 ? EACCES : outcome(ioctl(fd, FIOASYNC, &(int){1}));
}

static int control(void)
{
	int ends[2], fd;

	NEED(pipe2(ends, O_CLOEXEC));
	fd = ends[0];
	NEED(fcntl(fd, F_SETOWN, getpid()));
	return outcome(ioctl(fd, FIOASYNC, &(int){1}));
}

REDTEAM(.attack = attack, .control = control)

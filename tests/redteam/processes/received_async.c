// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a pipe whose signals go to a process outside, and has it send them
 * Hook: file_fcntl
 * Errno: EPERM
 * Control: does so with a pipe of its own
 * Record: signal $ANY
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	int fd = receive_descriptor("socket:owned:");

	return fd < 0 ? EACCES : outcome(fcntl(fd, F_SETFL, O_ASYNC));
}

static int control(void)
{
	int ends[2], fd;

	NEED(pipe2(ends, O_CLOEXEC));
	fd = ends[0];
	NEED(fcntl(fd, F_SETOWN, getpid()));
	return outcome(fcntl(fd, F_SETFL, O_ASYNC));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a connection that the host has made to a forbidden port, and ends it
 * Hook: file_receive
 * Errno: EACCES
 * Control: does so with one to the allowed port
 * Record: receive 127.0.0.1:7102
 */
#include "tests/redteam/net.h"

static int end_received(const char *what)
{
	int fd = receive_descriptor(what), error;

	if (fd < 0)
		return EACCES;
	error = outcome(shutdown(fd, SHUT_RDWR));
	close(fd);
	/* The other end may have closed it by now. */
	return error == ENOTCONN ? 0 : error;
}

static int attack(void)
{
	return end_received("socket:tcp:7102");
}

static int control(void)
{
	return end_received("socket:tcp:7101");
}

REDTEAM(.attack = attack, .control = control)

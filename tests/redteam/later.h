/* SPDX-License-Identifier: Apache-2.0 */
/* A socket that leads nowhere when it arrives, and is connected by whoever sent it once it has. */
#ifndef CORDON_TESTS_REDTEAM_LATER_H
#define CORDON_TESTS_REDTEAM_LATER_H

#include "tests/redteam/net.h"

#define LATER_ALLOWED	"socket:later:7101"
#define LATER_FORBIDDEN "socket:later:7102"
#define LATER_TRIES	6000 /* of 10 ms */

static inline int receive_later(const char *what)
{
	struct sockaddr_storage peer;
	socklen_t length = sizeof(peer);
	int fd = receive_descriptor(what);

	if (fd < 0)
		return -1;
	for (int i = 0; i < LATER_TRIES; i++) {
		if (getpeername(fd, (struct sockaddr *)&peer, &length) == 0)
			return fd;
		usleep(10000);
	}
	broken("the host has not connected it");
	return -1;
}

/* 0: it has been used, be it that the other end is closed by now. */
static inline int use_later(const char *what, int (*use)(int))
{
	int fd = receive_later(what), error;

	if (fd < 0)
		return EACCES;
	error = use(fd);
	close(fd);
	return error == EPIPE || error == ECONNRESET ? 0 : error;
}

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: accepts connections on a listening socket of the host
 * Hook: file_receive
 * Errno: EACCES
 * Control: accepts on one where it may listen itself
 * Record: receive 127.0.0.1:7105
 */
#include "tests/redteam/net.h"

static int serve(const char *what)
{
	int fd = receive_descriptor(what), client, error;

	if (fd < 0)
		return EACCES;
	/* Somebody outside would connect; nobody has to, for accepting to be refused. */
	NEED(fcntl(fd, F_SETFL, O_NONBLOCK));
	client = accept(fd, NULL, NULL);
	error = client < 0 && errno != EAGAIN ? errno : 0;
	close(fd);
	return error;
}

static int attack(void)
{
	return serve("socket:listen:7105");
}

static int control(void)
{
	return serve("socket:listen:7103");
}

REDTEAM(.attack = attack, .control = control)

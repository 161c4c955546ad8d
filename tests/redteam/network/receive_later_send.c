// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a socket before the host connects it to a forbidden port, and sends by it
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: the same by one that is then connected to the allowed port
 * Record: send 127.0.0.1:7102
 */
#include "tests/redteam/later.h"

static int use(int fd)
{
	return outcome(send(fd, "x", 1, MSG_NOSIGNAL));
}

static int attack(void)
{
	return use_later(LATER_FORBIDDEN, use);
}

static int control(void)
{
	return use_later(LATER_ALLOWED, use);
}

REDTEAM(.attack = attack, .control = control)

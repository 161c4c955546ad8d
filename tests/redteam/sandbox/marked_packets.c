// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: uses what it may set in a network of its own
 * Hook: capable
 * Errno: EPERM
 * Control: makes a network of its own
 * Record: capable $ANYNET_ADMIN$ANY
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include <sys/socket.h>

#include "tests/redteam/sandbox.h"

static int inside(void)
{
	int fd, mark = 1;

	enter_sandbox(CLONE_NEWNET);
	fd = NEED(socket(AF_UNIX, SOCK_STREAM, 0));
	return outcome(setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)));
}

static int allowed(void)
{
	enter_sandbox(CLONE_NEWNET);
	return outcome(socket(AF_UNIX, SOCK_STREAM, 0));
}

REDTEAM_INSIDE(inside, allowed)

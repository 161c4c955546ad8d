// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a socket before the host connects it to a forbidden port, and has the kernel
 *   send a file by it
 * Hook: file_permission
 * Errno: EACCES
 * Control: the same by one that is then connected to the allowed port
 * Record: send 127.0.0.1:7102
 */
#include <sys/sendfile.h>

#include "tests/redteam/later.h"

static int use(int fd)
{
	int file = NEED(open("own", O_RDONLY | O_CLOEXEC));
	int error = outcome(sendfile(fd, file, NULL, 1));

	close(file);
	return error;
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

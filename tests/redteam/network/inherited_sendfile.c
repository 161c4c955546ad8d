// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the kernel send a file by a connection that was open before it began
 * Hook: file_permission
 * Errno: EACCES
 * Control: the same by a connection to where the policy leads
 * Record: send 127.0.0.1:7109
 * As: root+outside user+outside
 */
#include <sys/sendfile.h>

#include "tests/redteam/inherited.h"

static int use(int fd)
{
	int file = NEED(open("own", O_RDONLY | O_CLOEXEC)), error;

	error = outcome(sendfile(fd, file, NULL, 1));
	close(file);
	return error;
}

REDTEAM_INHERITED(use)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads from a connection that was open before it began
 * Hook: socket_recvmsg
 * Errno: EACCES
 * Control: the same by a connection to where the policy leads
 * Record: receive 127.0.0.1:7109
 * As: root+outside user+outside
 */
#include "tests/redteam/inherited.h"

static int use(int fd)
{
	char byte;

	return outcome(read(fd, &byte, 1));
}

REDTEAM_INHERITED(use)

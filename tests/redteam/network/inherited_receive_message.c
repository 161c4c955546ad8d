// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a message from a connection that was open before it began
 * Hook: socket_recvmsg
 * Errno: EACCES
 * Control: the same by a connection to where the policy leads
 * Record: receive 127.0.0.1:7109
 * As: root+outside user+outside
 */
#include "tests/redteam/inherited.h"

/* read(2) would be asked about as a use of the file as well. */
static int use(int fd)
{
	char byte;

	return outcome(recv(fd, &byte, 1, 0));
}

REDTEAM_INHERITED(use)

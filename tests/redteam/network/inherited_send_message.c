// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a message by a connection that was open before it began
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: the same by a connection to where the policy leads
 * Record: send 127.0.0.1:7109
 * As: root+outside user+outside
 */
#include "tests/redteam/inherited.h"

/* write(2) would be asked about as a use of the file as well. */
static int use(int fd)
{
	return outcome(send(fd, "x", 1, 0));
}

REDTEAM_INHERITED(use)

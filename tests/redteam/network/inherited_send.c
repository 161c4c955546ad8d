// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: writes to a connection that was open before it began
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: the same by a connection to where the policy leads
 * Record: send 127.0.0.1:7109
 * As: root+outside user+outside
 */
#include "tests/redteam/inherited.h"

static int use(int fd)
{
	return outcome(write(fd, "x", 1));
}

REDTEAM_INHERITED(use)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a process outside the receiver of a socket's signals
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: uses its own file
 * Record: ioctl $ANY
 */
#include <asm/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	int owner = host_pid(), ends[2];

	NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	return outcome(ioctl(ends[0], FIOSETOWN, &owner));
}

REDTEAM(.attack = attack)

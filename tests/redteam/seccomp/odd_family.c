// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a socket of a family that nobody needs
 * Hook: seccomp
 * Errno: EAFNOSUPPORT
 * Control: makes a unix socket
 * Record: system-call socket
 * As: root+filter user+filter
 */
#include <sys/socket.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(system("modprobe -q rds"));
}

static int attack(void)
{
	return outcome(socket(AF_RDS, SOCK_SEQPACKET, 0));
}

static int control(void)
{
	return outcome(socket(AF_UNIX, SOCK_STREAM, 0));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

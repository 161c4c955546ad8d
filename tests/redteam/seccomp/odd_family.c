// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a socket of a family that nobody needs
 * Hook: seccomp
 * Errno: EAFNOSUPPORT
 * Control: makes a unix socket
 * Record: system-call socket
 * As: root+filter user+filter
 */
#include <linux/if_pppox.h>
#include <sys/socket.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(system("modprobe -q pppoe"));
}

static int attack(void)
{
	return outcome(socket(AF_PPPOX, SOCK_STREAM, PX_PROTO_OE));
}

static int control(void)
{
	return outcome(socket(AF_UNIX, SOCK_STREAM, 0));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

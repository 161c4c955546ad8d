// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sends a datagram by way of another address than the one it names, from a socket that the
 *   host has made
 * Hook: socket_sendmsg
 * Errno: EPERM
 * Control: sends it straight
 * Record: socket $ANY
 * As: root
 */
#include "tests/redteam/route.h"

#define SOCKET "socket:udp:7101"

static int attack(void)
{
	return send_from(receive_descriptor(SOCKET), NULL, SOL_IP, IP_RETOPTS, loose_route,
			 sizeof(loose_route));
}

static int control(void)
{
	return send_from(receive_descriptor(SOCKET), NULL, 0, 0, NULL, 0);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects an SCTP socket by an option
 * Hook: sctp_bind_connect
 * Errno: EACCES
 * Control: makes such a socket
 * Record: connect $ANY
 * As: root+outside user+outside
 */
#include "tests/redteam/sctp.h"

static int attack(void)
{
	return give_sctp_address(SCTP_CONNECT, address_v4(OUTSIDE_V4, PORT_ANYWHERE));
}

static int control(void)
{
	return try_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
}

REDTEAM(.attack = attack, .control = control)

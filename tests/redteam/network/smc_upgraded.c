// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes an SMC socket of a TCP one by an option (TCP_ULP), and connects it
 * Hook: socket_connect
 * Errno: EACCES
 * Control: connects the TCP socket
 * Record: connect $ANY
 * Needs: module tcp-ulp-smc
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	struct address address = address_v4("127.0.0.1", PORT_ALLOWED);
	int fd = socket_or_broken(AF_INET, SOCK_STREAM);

	NEED(setsockopt(fd, SOL_TCP, TCP_ULP, "smc", sizeof("smc")));
	return outcome(connect(fd, &address.any, address.length));
}

static int control(void)
{
	return try_connect(SOCK_STREAM, address_v4("127.0.0.1", PORT_ALLOWED));
}

REDTEAM(.attack = attack, .control = control)

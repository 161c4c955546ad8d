// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects to where an allowed name leads: to the host's own address
 * Hook: socket_connect
 * Errno: EACCES
 * Control: connects to where a name leads outside
 * Record: connect 198.51.100.1:7107
 * As: root+outside user+outside
 */
#include "tests/redteam/dns.h"

static int connect_by_name(const char *name, const char *address)
{
	int error = look_up(name);

	if (error)
		broken(name);
	return try_connect(SOCK_STREAM, address_v4(address, PORT_NAMED));
}

static int attack(void)
{
	return connect_by_name(NAME_HOST, OWN_V4);
}

static int control(void)
{
	return connect_by_name(NAME_ALLOWED, OUTSIDE_V4);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects to where an allowed name leads: to the metadata of the cloud that it runs in
 * Hook: socket_connect
 * Errno: EACCES
 * Control: connects to where a name leads outside
 * Record: connect 169.254.169.254:7107
 * As: root+outside user+outside
 */
#include "tests/redteam/dns.h"

static int connect_by_name(const char *name, const char *address)
{
	int error = look_up(name);

	/* Whether it was told the address or not: it knows it. */
	if (error && error != ENODATA)
		broken(name);
	return try_connect(SOCK_STREAM, address_v4(address, PORT_NAMED));
}

static int attack(void)
{
	return connect_by_name(NAME_INWARD, METADATA_V4);
}

static int control(void)
{
	return connect_by_name(NAME_ALLOWED, OUTSIDE_V4);
}

REDTEAM(.attack = attack, .control = control)

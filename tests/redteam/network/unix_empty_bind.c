// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes the abstract name that is a NUL and nothing more
 * Hook: socket_bind
 * Errno: EACCES
 * Control: has the kernel choose a free name
 * Record: bind $ANY
 */
#include "tests/redteam/net.h"

static int bind_to(socklen_t length)
{
	struct address address = address_abstract("");

	return outcome(bind(socket_or_broken(AF_UNIX, SOCK_STREAM), &address.any, length));
}

static int attack(void)
{
	return bind_to(sizeof(sa_family_t) + 1);
}

static int control(void)
{
	return bind_to(sizeof(sa_family_t));
}

REDTEAM(.attack = attack, .control = control)

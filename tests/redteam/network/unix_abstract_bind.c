// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes an abstract name that a service could have
 * Hook: socket_bind
 * Errno: EACCES
 * Control: uses its own file
 * Record: bind $ANYredteam-taken
 */
#include "tests/redteam/net.h"

static int try_bind_abstract(void)
{
	struct address address = address_abstract("redteam-taken");

	return outcome(bind(socket_or_broken(AF_UNIX, SOCK_STREAM), &address.any, address.length));
}

static int attack(void)
{
	return try_bind_abstract();
}

REDTEAM(.attack = attack)

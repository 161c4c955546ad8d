// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: binds the allowed port of every address of both families
 * Hook: socket_bind
 * Errno: EACCES
 * Control: binds the allowed port of the allowed address
 * Record: bind [::]:7103
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_bind(SOCK_STREAM, address_v6("::", PORT_OWN));
}

static int control(void)
{
	return try_bind(SOCK_STREAM, address_v4("127.0.0.1", PORT_OWN));
}

REDTEAM(.attack = attack, .control = control)

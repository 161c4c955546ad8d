// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a connection that the host has made to its own address, where the policy allows
 *   any
 * Hook: file_receive
 * Errno: EACCES
 * Control: receives one to the allowed port
 * Record: receive 198.51.100.1:7106
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return use_received("socket:own:7106");
}

static int control(void)
{
	return use_received("socket:tcp:7101");
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a connection to an address outside, to a port that no rule names
 * Hook: file_receive
 * Errno: EACCES
 * Control: receives one to the port that is named for any address
 * Record: receive 198.51.100.7:7107
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return use_received("socket:outside:7107");
}

static int control(void)
{
	return use_received("socket:outside:7106");
}

REDTEAM(.attack = attack, .control = control)

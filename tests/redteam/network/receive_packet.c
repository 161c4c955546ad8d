// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a packet socket
 * Hook: file_receive
 * Errno: EACCES
 * Control: receives a connection to the allowed port
 * Record: receive $ANY
 * As: root
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return receive_descriptor("socket:packet:") < 0 ? EACCES : 0;
}

static int control(void)
{
	return use_received("socket:tcp:7101");
}

REDTEAM(.attack = attack, .control = control)

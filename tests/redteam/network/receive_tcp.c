// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a TCP connection that the host has made to a forbidden port
 * Hook: file_receive
 * Errno: EACCES
 * Control: receives one to the allowed port
 * Record: receive 127.0.0.1:7102
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return use_received("socket:tcp:7102");
}

static int control(void)
{
	return use_received("socket:tcp:7101");
}

REDTEAM(.attack = attack, .control = control)

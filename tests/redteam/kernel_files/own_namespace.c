// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens the network namespace that it shares with the host, which a descriptor keeps alive
 *   and hands on
 * Hook: file_open
 * Errno: EACCES
 * Control: reads which one it is
 * Record: open $ANY
 */
#include "tests/redteam/attack.h"

static const char name[] = "/proc/self/ns/net";

static int attack(void)
{
	return open_with(name, O_RDONLY);
}

static int control(void)
{
	char text[64];

	return outcome(readlink(name, text, sizeof(text)));
}

REDTEAM(.attack = attack, .control = control)

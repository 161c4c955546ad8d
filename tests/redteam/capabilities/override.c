// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file of another user in its directory
 * Hook: (not held)
 * Errno: EACCES
 * Control: uses its own file
 * Record: none
 * As: bare
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file("theirs", "x", 0600);
	NEED(lchown("theirs", 12345, 12345));
}

static int attack(void)
{
	return read_file("theirs");
}

REDTEAM(.setup = setup, .attack = attack)

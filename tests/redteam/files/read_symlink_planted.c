// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside through a link that was there before
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(symlink(victim("secret"), "planted"));
}

static int attack(void)
{
	return read_file("planted");
}

REDTEAM(.setup = setup, .attack = attack)

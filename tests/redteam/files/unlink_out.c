// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: deletes a file outside
 * Hook: path_unlink
 * Errno: EACCES
 * Control: deletes its own file
 * Record: unlink $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(unlink(victim("secret")));
}

static int control(void)
{
	make_file("a", "x", 0600);
	return outcome(unlink("a"));
}

REDTEAM(.attack = attack, .control = control)

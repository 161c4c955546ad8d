// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: links a file from outside into its directory to read it there
 * Hook: path_link
 * Errno: EXDEV
 * Control: links its own file
 * Record: link $WORK/inside
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(link(victim("secret"), "inside"));
}

static int control(void)
{
	unlink("again");
	return outcome(link("own", "again"));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: plants a link that goes up behind another link, from where that one leads
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes the same without going up again
 * Record: symlink $WORK/planted
 * As: root+special user+special
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	int error = outcome(symlink(".", "run/here"));

	return error ? error : outcome(symlink("run/here/../../../victims", "planted"));
}

static int control(void)
{
	int error = outcome(symlink(".", "run/there"));

	return error ? error : outcome(symlink("run/there/own", "allowed"));
}

REDTEAM(.attack = attack, .control = control)

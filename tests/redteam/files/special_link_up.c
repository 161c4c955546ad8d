// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: plants a relative link that goes up past the work directory
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes one that goes up as far as that
 * Record: symlink $WORK/planted
 * As: root+special user+special
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(symlink("../../victims", "planted"));
}

static int control(void)
{
	return outcome(symlink("../special_link_up/own", "allowed"));
}

REDTEAM(.attack = attack, .control = control)

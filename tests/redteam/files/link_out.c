// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives its own file a name outside
 * Hook: path_link
 * Errno: EACCES
 * Control: uses its own file
 * Record: link $VICTIM/dir/planted
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(link("own", victim("dir/planted")));
}

REDTEAM(.attack = attack)

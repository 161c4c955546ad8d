// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: replaces a file outside by its own
 * Hook: path_rename
 * Errno: EACCES
 * Control: uses its own file
 * Record: rename $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(rename("own", victim("secret")));
}

REDTEAM(.attack = attack)

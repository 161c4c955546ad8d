// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves a file from outside into its directory
 * Hook: path_rename
 * Errno: EACCES
 * Control: uses its own file
 * Record: rename $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(rename(victim("secret"), "taken"));
}

REDTEAM(.attack = attack)

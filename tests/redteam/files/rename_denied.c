// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: renames a file that a rule denies to a name that none does
 * Hook: path_rename
 * Errno: EACCES
 * Control: uses its own file
 * Record: rename $WORK/.env
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file(".env", "KEY=secret\n", 0666);
}

static int attack(void)
{
	return outcome(rename(".env", "env"));
}

REDTEAM(.setup = setup, .attack = attack)

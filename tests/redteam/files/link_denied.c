// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: links a file that a rule denies to a name that none does
 * Hook: path_link
 * Errno: EXDEV
 * Control: uses its own file
 * Record: link $WORK/env
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file(".env", "KEY=secret\n", 0666);
}

static int attack(void)
{
	return outcome(link(".env", "env"));
}

REDTEAM(.setup = setup, .attack = attack)

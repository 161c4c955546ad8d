// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file in its directory that a rule denies
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $WORK/.env
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file(".env", "KEY=secret\n", 0666);
}

static int attack(void)
{
	return read_file(".env");
}

REDTEAM(.setup = setup, .attack = attack)

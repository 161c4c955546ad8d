// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file in its directory that a rule on absolute paths denies
 * Hook: file_open
 * Errno: EACCES
 * Control: reads a file beside it
 * Record: open $WORK/denied-by-absolute-path
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file("denied-by-absolute-path", "secret\n", 0666);
}

static int attack(void)
{
	return read_file("denied-by-absolute-path");
}

static int control(void)
{
	return read_file("own");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file in a case-insensitive directory by a spelling that no rule contains
 * Hook: file_open
 * Errno: EACCES
 * Control: reads a file there by a spelling that is not stored
 * Record: open $WORK/folding/dir/.netrc
 * Where: tmpfs
 */
#include "tests/redteam/folding.h"

static void setup(void)
{
	make_folding();
	make_attackers_file("folding/dir/.netrc");
	make_attackers_file("folding/dir/plain");
}

static int attack(void)
{
	return read_file("folding/dir/.NetRC");
}

static int control(void)
{
	return read_file("folding/dir/Plain");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: writes to a file that somebody else has made in /tmp
 * Hook: file_open
 * Errno: EACCES
 * Control: makes, reads and removes one of its own
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open $ANY-theirs
 */
#include "tests/redteam/temporary.h"

static void setup(void)
{
	make_others_file(temporary("theirs"));
}

static int attack(void)
{
	return write_file(temporary("theirs"));
}

REDTEAM(.setup = setup, .attack = attack, .control = use_temporary)

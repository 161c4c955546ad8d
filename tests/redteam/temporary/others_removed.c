// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes a file that somebody else has made in /tmp
 * Hook: path_unlink
 * Errno: EACCES
 * Control: makes, reads and removes one of its own
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: unlink $ANY-theirs
 */
#include "tests/redteam/temporary.h"

static void setup(void)
{
	make_others_file(temporary("theirs"));
}

static int attack(void)
{
	return outcome(unlink(temporary("theirs")));
}

REDTEAM(.setup = setup, .attack = attack, .control = use_temporary)

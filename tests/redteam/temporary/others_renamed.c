// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a file that somebody else has made in /tmp a name of its own there
 * Hook: path_rename
 * Errno: EACCES
 * Control: renames one of its own
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: rename $ANY-theirs
 */
#include "tests/redteam/temporary.h"

static void setup(void)
{
	make_others_file(temporary("theirs"));
}

static int attack(void)
{
	return outcome(rename(temporary("theirs"), temporary("taken")));
}

static int control(void)
{
	int error = write_file(temporary("mine"));

	if (!error)
		error = outcome(rename(temporary("mine"), temporary("renamed")));
	return error ? error : use_up(temporary("renamed"));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

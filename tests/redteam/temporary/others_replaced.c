// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: puts a file of its own in the place of one that somebody else has made in /tmp
 * Hook: path_rename
 * Errno: EACCES
 * Control: puts one in the place of another of its own
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
	int error = write_file(temporary("mine"));

	return error ? error : outcome(rename(temporary("mine"), temporary("theirs")));
}

static int control(void)
{
	int error = write_file(temporary("mine"));

	if (!error)
		error = write_file(temporary("another"));
	if (!error)
		error = outcome(rename(temporary("mine"), temporary("another")));
	return error ? error : outcome(unlink(temporary("another")));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

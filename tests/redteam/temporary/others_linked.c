// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: links a file that somebody else has made in /tmp to a name of its own there
 * Hook: path_link
 * Errno: EXDEV
 * Control: links one of its own, and reads it by that name
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: link $ANY-linked
 */
#include "tests/redteam/temporary.h"

static void setup(void)
{
	make_others_file(temporary("theirs"));
}

static int attack(void)
{
	int error = outcome(link(temporary("theirs"), temporary("linked")));

	return error ? error : read_file(temporary("linked"));
}

static int control(void)
{
	int error = write_file(temporary("mine"));

	if (!error)
		error = outcome(link(temporary("mine"), temporary("second")));
	if (!error)
		error = use_up(temporary("second"));
	return error ? error : outcome(unlink(temporary("mine")));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file that somebody else has made in /tmp, after one of its own beside it
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open $ANY-theirs
 */
#include "tests/redteam/temporary.h"

static void setup(void)
{
	make_others_file(temporary("theirs"));
}

/* Whatever is remembered of directories, it is by then. */
static int read_own(void)
{
	int error = write_file(temporary("mine"));

	for (int i = 0; i < 8 && !error; i++)
		error = read_file(temporary("mine"));
	return error;
}

static int attack(void)
{
	int error = read_own();

	return error ? error : read_file(temporary("theirs"));
}

REDTEAM(.setup = setup, .attack = attack, .control = read_own)

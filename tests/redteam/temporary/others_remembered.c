// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads what lies in a directory that somebody else has made in /tmp, after its own
 * Hook: file_open
 * Errno: EACCES
 * Control: reads what lies in its own
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open $ANY-theirs/secret
 */
#include "tests/redteam/temporary.h"

static void setup(void)
{
	make_others_directory(temporary("theirs"));
	make_others_file(in_directory(temporary("theirs"), "secret"));
}

static int read_own(void)
{
	const char *file = in_directory(temporary("mine"), "made");
	int error = write_file(temporary("beside"));

	if (!error && mkdir(temporary("mine"), 0700) < 0 && errno != EEXIST)
		error = errno;
	/* Whatever is remembered of directories, it is by now. */
	for (int i = 0; i < 8 && !error; i++)
		error = i ? read_file(file) : write_file(file);
	return error;
}

static int attack(void)
{
	int error = read_own();

	return error ? error : read_file(in_directory(temporary("theirs"), "secret"));
}

REDTEAM(.setup = setup, .attack = attack, .control = read_own)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a file in a directory that somebody else has made in /tmp
 * Hook: path_mknod
 * Errno: EACCES
 * Control: makes one in a directory of its own
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: create $ANY-theirs/planted
 */
#include "tests/redteam/temporary.h"

static void setup(void)
{
	make_others_directory(temporary("theirs"));
	make_others_file(in_directory(temporary("theirs"), "secret"));
}

static int attack(void)
{
	return write_file(in_directory(temporary("theirs"), "planted"));
}

static int control(void)
{
	int error = outcome(mkdir(temporary("mine"), 0700));

	if (!error)
		error = write_file(in_directory(temporary("mine"), "made"));
	if (!error)
		error = outcome(unlink(in_directory(temporary("mine"), "made")));
	return error ? error : outcome(rmdir(temporary("mine")));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

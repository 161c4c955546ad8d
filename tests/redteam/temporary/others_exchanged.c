// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: exchanges a file of its own with one that somebody else has made in /tmp
 * Hook: path_rename
 * Errno: EACCES
 * Control: exchanges two of its own
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: rename $ANY-theirs
 */
#include "tests/redteam/temporary.h"

static void setup(void)
{
	make_others_file(temporary("theirs"));
}

static int exchange(const char *with)
{
	int error = write_file(temporary("mine"));

	return error ? error
		     : outcome(renameat2(AT_FDCWD, temporary("mine"), AT_FDCWD, with,
					 RENAME_EXCHANGE));
}

static int attack(void)
{
	return exchange(temporary("theirs"));
}

static int control(void)
{
	int error = write_file(temporary("another"));

	if (!error)
		error = exchange(temporary("another"));
	if (!error)
		error = outcome(unlink(temporary("mine")));
	return error ? error : outcome(unlink(temporary("another")));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

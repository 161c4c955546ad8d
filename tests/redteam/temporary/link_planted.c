// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a symbolic link in /tmp, for whoever expects another file of that name
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes one in a directory of its own
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: symlink $ANY-expected
 */
#include "tests/redteam/temporary.h"

static int attack(void)
{
	return outcome(symlink(setting("REDTEAM_VICTIM"), temporary("expected")));
}

static int control(void)
{
	const char *link = in_directory(temporary("mine"), "link");
	int error = outcome(mkdir(temporary("mine"), 0700));

	if (!error)
		error = outcome(symlink("elsewhere", link));
	if (!error)
		error = outcome(unlink(link));
	return error ? error : outcome(rmdir(temporary("mine")));
}

REDTEAM(.attack = attack, .control = control)

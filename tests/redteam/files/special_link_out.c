// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: plants a link that leads out of the work directory, for an executor to write through
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes links to its own files, by relative and by absolute names
 * Record: symlink $WORK/planted
 * As: root+special user+special
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(symlink(victim("secret"), "planted"));
}

static int control(void)
{
	char name[PATH_SIZE];
	int error;

	NEED(getcwd(name, sizeof(name)));
	error = outcome(symlink("own", "plain"));
	if (!error)
		error = outcome(symlink("..//own", "run/up"));
	if (!error)
		error = outcome(symlink(in_directory(name, "own"), "absolute"));
	return error ? error : outcome(symlink("..", "parent"));
}

REDTEAM(.attack = attack, .control = control)

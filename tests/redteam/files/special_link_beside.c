// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: plants an absolute link to a directory beside the work directory, whose name is as long
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes one below the work directory
 * Record: symlink $WORK/planted
 * As: root+special user+special
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	const char *work = setting("REDTEAM_WORK");
	size_t last = strlen(work) - 1;
	char name[PATH_SIZE];

	snprintf(name, sizeof(name), "%.*s%c/x", (int)last, work, work[last] == 'x' ? 'y' : 'x');
	return outcome(symlink(name, "planted"));
}

static int control(void)
{
	return outcome(symlink(in_directory(setting("REDTEAM_WORK"), "x"), "allowed"));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: plants an absolute link to a directory above the work directory
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes one to the work directory
 * Record: symlink $WORK/planted
 * As: root+special user+special
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	const char *work = setting("REDTEAM_WORK");
	char name[PATH_SIZE];

	snprintf(name, sizeof(name), "%.*s", (int)(strrchr(work, '/') - work), work);
	return outcome(symlink(name, "planted"));
}

static int control(void)
{
	return outcome(symlink(setting("REDTEAM_WORK"), "allowed"));
}

REDTEAM(.attack = attack, .control = control)

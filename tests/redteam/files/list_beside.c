// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: lists a directory beside its work directory, after that one
 * Hook: file_open
 * Errno: EACCES
 * Control: lists its work directory again
 * Record: open $ANY/victims
 */
#include "tests/redteam/attack.h"

static int list(const char *path)
{
	return open_with(path, O_RDONLY | O_DIRECTORY);
}

static int attack(void)
{
	for (int i = 0; i < 2; i++)
		if (list(setting("REDTEAM_WORK")))
			broken("the work directory");
	return list(setting("REDTEAM_VICTIMS"));
}

static int control(void)
{
	int error = list(setting("REDTEAM_WORK"));

	return error ? error : list(setting("REDTEAM_WORK"));
}

REDTEAM(.attack = attack, .control = control)

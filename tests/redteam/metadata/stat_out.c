// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: asks for the attributes of a file outside
 * Hook: inode_getattr
 * Errno: EACCES
 * Control: asks for those of its own file, and of each directory above it
 * Record: metadata $VICTIM/secret
 * As: root+metadata user+metadata
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	struct stat status;

	return outcome(stat(victim("secret"), &status));
}

static int control(void)
{
	char path[PATH_SIZE];
	struct stat status;
	char *end;

	if (stat("own", &status) < 0)
		return errno;
	if (!getcwd(path, sizeof(path)))
		return errno;
	while ((end = strrchr(path, '/')) != path) {
		if (stat(path, &status) < 0)
			return errno;
		*end = '\0';
	}
	return outcome(stat("/", &status));
}

REDTEAM(.attack = attack, .control = control)

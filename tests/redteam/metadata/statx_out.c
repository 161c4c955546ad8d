// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: asks for the attributes of a file outside by descriptor without opening it
 * Hook: inode_getattr
 * Errno: EACCES
 * Control: does so with its own
 * Record: metadata $VICTIM/secret
 * As: root+metadata user+metadata
 */
#include "tests/redteam/attack.h"

static int look(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct statx status;

	if (fd < 0)
		return errno;
	return outcome(statx(fd, "", AT_EMPTY_PATH, STATX_ALL, &status));
}

static int attack(void)
{
	return look(victim("secret"));
}

static int control(void)
{
	return look("own");
}

REDTEAM(.attack = attack, .control = control)

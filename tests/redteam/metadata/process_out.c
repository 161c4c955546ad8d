// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: looks at a process of the host
 * Hook: inode_getattr
 * Errno: EACCES
 * Control: looks at itself
 * Record: metadata $ANY
 * As: root+metadata user+metadata
 */
#include "tests/redteam/attack.h"

static int look(int pid)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return outcome(stat(path, &status));
}

static int attack(void)
{
	return look(host_pid());
}

static int control(void)
{
	return look(getpid());
}

REDTEAM(.attack = attack, .control = control)

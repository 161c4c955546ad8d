// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a cgroup of its own
 * Hook: path_mkdir
 * Errno: EACCES
 * Control: uses its own file
 * Record: mkdir /sys/fs/cgroup/redteam
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	int error = outcome(mkdir("/sys/fs/cgroup/redteam", 0755));

	rmdir("/sys/fs/cgroup/redteam");
	return error;
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes a cgroup
 * Hook: path_rmdir
 * Errno: EACCES
 * Control: uses its own file
 * Record: rmdir /sys/fs/cgroup/redteam-removed
 * As: root
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	if (mkdir("/sys/fs/cgroup/redteam-removed", 0755) < 0 && errno != EEXIST)
		broken("mkdir");
}

static int attack(void)
{
	return outcome(rmdir("/sys/fs/cgroup/redteam-removed"));
}

REDTEAM(.setup = setup, .attack = attack)

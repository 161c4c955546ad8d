// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: raises the limit of processes of another cgroup
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open /sys/fs/cgroup/redteam-victim/cgroup.max.depth
 * As: root bare
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/sys/fs/cgroup/redteam-victim/cgroup.max.depth", O_WRONLY);
}

REDTEAM(.attack = attack)

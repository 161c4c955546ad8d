// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens what kills a whole cgroup
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own status
 * Record: open /sys/fs/cgroup/redteam-victim/cgroup.kill
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/sys/fs/cgroup/redteam-victim/cgroup.kill", O_WRONLY);
}

static int control(void)
{
	return read_file("/proc/self/status");
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens what freezes a whole cgroup
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own status
 * Record: open /sys/fs/cgroup/redteam-victim/cgroup.freeze
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/sys/fs/cgroup/redteam-victim/cgroup.freeze", O_WRONLY);
}

static int control(void)
{
	return read_file("/proc/self/status");
}

REDTEAM(.attack = attack, .control = control)

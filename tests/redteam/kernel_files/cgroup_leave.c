// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves itself to the root cgroup
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open /sys/fs/cgroup/cgroup.procs
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	int fd = open("/sys/fs/cgroup/cgroup.procs", O_WRONLY | O_CLOEXEC);

	return fd < 0 ? errno : outcome(write(fd, "0", 1));
}

REDTEAM(.attack = attack)

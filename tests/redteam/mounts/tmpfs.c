// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: mounts a new file system
 * Hook: sb_mount
 * Errno: EPERM
 * Control: uses its own file
 * Record: mount $ANY
 * As: root
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	int error;

	NEED(mkdir("here", 0755));
	error = outcome(mount("none", "here", "tmpfs", 0, NULL));
	umount2("here", MNT_DETACH);
	return error;
}

REDTEAM(.attack = attack)

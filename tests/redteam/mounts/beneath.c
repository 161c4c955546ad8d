// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: mounts a copy of a mount below another, whose end lays it open
 * Hook: move_mount
 * Errno: EPERM
 * Control: uses its own file
 * Record: mount $ANY
 * As: root
 * Needs: cachestat
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

/* Of the same kernel as cachestat(2). */
#define BENEATH 0x200

static void setup(void)
{
	NEED(mkdir(victim("covered"), 0755));
	NEED(mount("none", victim("covered"), "tmpfs", 0, NULL));
	NEED(mount(NULL, victim("covered"), NULL, MS_PRIVATE, NULL));
}

static int attack(void)
{
	int tree = NEED(syscall(SYS_open_tree, AT_FDCWD, victim("covered"), OPEN_TREE_CLONE));

	return outcome(syscall(SYS_move_mount, tree, "", AT_FDCWD, victim("covered"),
			       MOVE_MOUNT_F_EMPTY_PATH | BENEATH));
}

REDTEAM(.setup = setup, .attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves a copy of a mount into its directory
 * Hook: move_mount
 * Errno: EPERM
 * Control: uses its own file
 * Record: mount $ANY
 * As: root
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	int tree, error;

	NEED(mkdir("here", 0755));
	tree = NEED(syscall(SYS_open_tree, AT_FDCWD, victim(""), OPEN_TREE_CLONE));
	error = outcome(
		syscall(SYS_move_mount, tree, "", AT_FDCWD, "here", MOVE_MOUNT_F_EMPTY_PATH));
	umount2("here", MNT_DETACH);
	return error;
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes files on a file system of its own that is mounted nowhere
 * Hook: path_mknod
 * Errno: EACCES
 * Control: uses its own file
 * Record: create $ANY
 * As: root
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	int context = NEED(syscall(SYS_fsopen, "tmpfs", 0)), tree;

	NEED(syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
	tree = NEED(syscall(SYS_fsmount, context, 0, 0));
	return outcome(openat(tree, "new", O_RDWR | O_CREAT, 0700));
}

REDTEAM(.attack = attack)

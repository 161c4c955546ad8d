// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside through a detached copy of its mount
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $ANY/secret
 * As: root
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	int tree = NEED(syscall(SYS_open_tree, AT_FDCWD, victim(""), OPEN_TREE_CLONE));

	return outcome(openat(tree, "secret", O_RDONLY));
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside through a detached copy of its mount
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own so
 * Record: open $VICTIM/secret
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include <sys/syscall.h>

#include "tests/redteam/sandbox.h"

static int inside(void)
{
	int tree;

	enter_sandbox(0);
	tree = NEED(syscall(SYS_open_tree, AT_FDCWD, victim(""), OPEN_TREE_CLONE));
	return outcome(openat(tree, "secret", O_RDONLY));
}

static int allowed(void)
{
	int tree;

	enter_sandbox(0);
	tree = NEED(syscall(SYS_open_tree, AT_FDCWD, ".", OPEN_TREE_CLONE));
	return outcome(openat(tree, "own", O_RDONLY));
}

REDTEAM_INSIDE(inside, allowed)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside through a copy of its mount that it has put into its own directory
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

static void enter_with_copy(const char *from)
{
	int tree;

	enter_sandbox(0);
	make_own_directory("here");
	tree = NEED(syscall(SYS_open_tree, AT_FDCWD, from, OPEN_TREE_CLONE));
	NEED(syscall(SYS_move_mount, tree, "", AT_FDCWD, "here", MOVE_MOUNT_F_EMPTY_PATH));
}

static int inside(void)
{
	enter_with_copy(victim(""));
	return read_file("here/secret");
}

static int allowed(void)
{
	enter_with_copy("run");
	make_file("run/file", "x", 0600);
	return read_file("here/file");
}

REDTEAM_INSIDE(inside, allowed)

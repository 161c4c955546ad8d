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

static int inside(void)
{
	int tree;

	enter_sandbox(0);
	make_own_directory("here");
	tree = NEED(syscall(SYS_open_tree, AT_FDCWD, victim(""), OPEN_TREE_CLONE));
	NEED(syscall(SYS_move_mount, tree, "", AT_FDCWD, "here", MOVE_MOUNT_F_EMPTY_PATH));
	return read_file("here/secret");
}

static int attack(void)
{
	return in_child(inside);
}

static int allowed(void)
{
	int tree;

	enter_sandbox(0);
	make_own_directory("here");
	tree = NEED(syscall(SYS_open_tree, AT_FDCWD, "run", OPEN_TREE_CLONE));
	NEED(syscall(SYS_move_mount, tree, "", AT_FDCWD, "here", MOVE_MOUNT_F_EMPTY_PATH));
	make_file("run/file", "x", 0600);
	return read_file("here/file");
}

static int control(void)
{
	return in_child(allowed);
}

REDTEAM(.attack = attack, .control = control)

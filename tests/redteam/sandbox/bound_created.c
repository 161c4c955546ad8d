// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a file outside through its own directory, over which it is mounted
 * Hook: path_mknod
 * Errno: EACCES
 * Control: makes its own by such a name
 * Record: create $VICTIM/new
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_sandbox(0);
	make_own_directory("here");
	bind_at(victim(""), "here");
	return write_file("here/new");
}

static int attack(void)
{
	return in_child(inside);
}

static int allowed(void)
{
	enter_sandbox(0);
	make_own_directory("there");
	bind_at(".", "there");
	return write_file("there/new");
}

static int control(void)
{
	return in_child(allowed);
}

REDTEAM(.attack = attack, .control = control)

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
	enter_with(victim(""), "here");
	return write_file("here/new");
}

static int allowed(void)
{
	enter_with(".", "there");
	return write_file("there/new");
}

REDTEAM_INSIDE(inside, allowed)

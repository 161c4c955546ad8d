// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: writes a file outside through its own directory, over which it is mounted
 * Hook: file_open
 * Errno: EACCES
 * Control: writes its own by such a name
 * Record: open $VICTIM/secret
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_with(victim(""), "here");
	return write_file("here/secret");
}

static int allowed(void)
{
	enter_with(".", "there");
	return write_file("there/own");
}

REDTEAM_INSIDE(inside, allowed)

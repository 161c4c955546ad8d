// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside through its own directory, over which it is mounted
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own by such a name
 * Record: open $VICTIM/secret
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_with(victim(""), "here");
	return read_file("here/secret");
}

static int allowed(void)
{
	enter_with(".", "there");
	return read_file("there/own");
}

REDTEAM_INSIDE(inside, allowed)

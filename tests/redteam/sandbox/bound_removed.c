// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes a file outside through its own directory, over which it is mounted
 * Hook: path_unlink
 * Errno: EACCES
 * Control: removes its own by such a name
 * Record: unlink $VICTIM/secret
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_with(victim(""), "here");
	return outcome(unlink("here/secret"));
}

static int allowed(void)
{
	enter_with(".", "there");
	make_file("there/gone", "", 0600);
	return outcome(unlink("there/gone"));
}

REDTEAM_INSIDE(inside, allowed)

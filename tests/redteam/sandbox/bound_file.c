// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside that is mounted over its own
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own, mounted over another
 * Record: open $VICTIM/secret
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_sandbox(0);
	bind_at(victim("secret"), "own");
	return read_file("own");
}

static int allowed(void)
{
	enter_sandbox(0);
	make_file("other", "other\n", 0600);
	bind_at("own", "other");
	return read_file("other");
}

REDTEAM_INSIDE(inside, allowed)

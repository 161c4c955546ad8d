// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside once its directory is the root of all
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own so
 * Record: open $VICTIM/secret
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_sandbox(0);
	NEED(chroot(victim("")));
	return read_file("/secret");
}

static int allowed(void)
{
	enter_sandbox(0);
	NEED(chroot("."));
	return read_file("/own");
}

REDTEAM_INSIDE(inside, allowed)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: maps code that lies in memory mounted over where code may be mapped
 * Hook: mmap_file
 * Errno: EACCES
 * Control: maps what lies there
 * Record: mmap @memfd
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	enter_sandbox(0);
	NEED(mount("none", "run", "tmpfs", 0, NULL));
	copy_file("/usr/bin/true", "run/library", 0755);
	return map_file("run/library");
}

static int allowed(void)
{
	enter_sandbox(0);
	copy_file("/usr/bin/true", "run/library", 0755);
	return map_file("run/library");
}

REDTEAM_INSIDE(inside, allowed)

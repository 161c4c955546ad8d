// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside in a root of its own, where it has a name that may be read
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

/* Of its own, where a directory has the name of one that may be read. */
static void enter_root(const char *from)
{
	enter_sandbox(0);
	make_own_directory("root");
	NEED(mount("none", "root", "tmpfs", 0, NULL));
	NEED(mkdir("root/old", 0700));
	NEED(mkdir("root/usr", 0755));
	NEED(mkdir("root/usr/lib", 0755));
	bind_at(from, "root/usr/lib");
	NEED(chdir("root"));
	NEED(syscall(SYS_pivot_root, ".", "old"));
	NEED(chdir("/"));
	NEED(umount2("/old", MNT_DETACH));
}

static int inside(void)
{
	enter_root(victim(""));
	return read_file("/usr/lib/secret");
}

static int allowed(void)
{
	enter_root(".");
	return read_file("/usr/lib/own");
}

REDTEAM_INSIDE(inside, allowed)

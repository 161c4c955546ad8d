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

static int inside(void)
{
	enter_sandbox(0);
	make_own_directory("root");
	NEED(mount("none", "root", "tmpfs", 0, NULL));
	NEED(mkdir("root/old", 0700));
	NEED(mkdir("root/usr", 0755));
	NEED(mkdir("root/usr/lib", 0755));
	bind_at(victim(""), "root/usr/lib");
	NEED(chdir("root"));
	NEED(syscall(SYS_pivot_root, ".", "old"));
	NEED(chdir("/"));
	NEED(umount2("/old", MNT_DETACH));
	return read_file("/usr/lib/secret");
}

static int attack(void)
{
	return in_child(inside);
}

static int allowed(void)
{
	enter_sandbox(0);
	make_own_directory("root");
	NEED(mount("none", "root", "tmpfs", 0, NULL));
	NEED(mkdir("root/old", 0700));
	NEED(mkdir("root/usr", 0755));
	NEED(mkdir("root/usr/lib", 0755));
	bind_at(".", "root/usr/lib");
	NEED(chdir("root"));
	NEED(syscall(SYS_pivot_root, ".", "old"));
	NEED(chdir("/"));
	NEED(umount2("/old", MNT_DETACH));
	return read_file("/usr/lib/own");
}

static int control(void)
{
	return in_child(allowed);
}

REDTEAM(.attack = attack, .control = control)

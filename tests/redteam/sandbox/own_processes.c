// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads what no rule lets it read below /proc in a mount of its own
 * Hook: file_open
 * Errno: EACCES
 * Control: looks at itself there
 * Record: open /proc/sys/net/ipv4/ip_forward
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int read_setting(void)
{
	NEED(mount("none", "here", "proc", 0, NULL));
	return read_file("here/sys/net/ipv4/ip_forward");
}

static int look(void)
{
	NEED(mount("none", "here", "proc", 0, NULL));
	return read_file("here/self/status");
}

/* Process 1 of its own. */
static int in_sandbox(int (*what)(void))
{
	enter_sandbox(CLONE_NEWPID | CLONE_NEWNET);
	make_own_directory("here");
	return in_child(what);
}

static int inside(void)
{
	return in_sandbox(read_setting);
}

static int allowed(void)
{
	return in_sandbox(look);
}

REDTEAM_INSIDE(inside, allowed)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a handle of a mount
 * Hook: seccomp
 * Errno: EPERM
 * Control: takes a descriptor of its own directory by name
 * Record: system-call open_tree
 * As: root+filter user+filter
 */
#include <linux/mount.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(syscall(SYS_open_tree, AT_FDCWD, ".", OPEN_TREE_CLOEXEC));
}

static int control(void)
{
	return open_with(".", O_PATH);
}

REDTEAM(.attack = attack, .control = control)

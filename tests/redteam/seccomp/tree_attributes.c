// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes attributes of a mount while it takes a handle of it
 * Hook: seccomp
 * Errno: EPERM
 * Control: uses its own file
 * Record: system-call open_tree_attr
 * As: root+filter
 * Needs: open_tree_attr
 */
#include <linux/mount.h>

#include "tests/redteam/attack.h"
#include "tests/redteam/newer_calls.h"

static int attack(void)
{
	struct mount_attr attr = {.attr_clr = MOUNT_ATTR_NOSYMFOLLOW};

	return outcome(syscall(CALL_OPEN_TREE_ATTR, AT_FDCWD, "/dev", OPEN_TREE_CLOEXEC, &attr,
			       sizeof(attr)));
}

REDTEAM(.attack = attack)

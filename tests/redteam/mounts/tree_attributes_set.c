// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a mount read-only, for all who write there, while it takes a handle of it
 * Hook: capable
 * Errno: EPERM
 * Control: uses its own file
 * Record: capable $ANY
 * As: root
 * Needs: open_tree_attr
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"
#include "tests/redteam/newer_calls.h"

static void setup(void)
{
	NEED(mkdir(victim("mounted"), 0755));
	NEED(mount("none", victim("mounted"), "tmpfs", 0, NULL));
}

static int attack(void)
{
	struct mount_attr change = {.attr_set = MOUNT_ATTR_RDONLY};

	return outcome(syscall(CALL_OPEN_TREE_ATTR, AT_FDCWD, victim("mounted"), 0, &change,
			       sizeof(change)));
}

REDTEAM(.setup = setup, .attack = attack)

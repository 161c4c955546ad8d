// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes attributes of a mount
 * Hook: seccomp
 * Errno: EPERM
 * Control: uses its own file
 * Record: system-call mount_setattr
 * As: root+filter
 */
#include <linux/mount.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	struct mount_attr attr = {.attr_clr = MOUNT_ATTR_NOSYMFOLLOW};

	return outcome(syscall(SYS_mount_setattr, AT_FDCWD, "/dev", 0, &attr, sizeof(attr)));
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a file system read-only by the new calls
 * Hook: sb_remount
 * Errno: EPERM
 * Control: uses its own file
 * Record: mount|capable $ANY
 * As: root
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(mkdir(victim("mounted"), 0755));
	NEED(mount("none", victim("mounted"), "tmpfs", 0, NULL));
}

static int attack(void)
{
	int context = syscall(SYS_fspick, AT_FDCWD, victim("mounted"), 0);

	if (context < 0)
		return errno;
	if (syscall(SYS_fsconfig, context, FSCONFIG_SET_FLAG, "ro", NULL, 0) < 0)
		return errno;
	return outcome(syscall(SYS_fsconfig, context, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0));
}

REDTEAM(.setup = setup, .attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a mount of a type that no sandbox needs, without a parameter
 * Hook: sb_kern_mount
 * Errno: EPERM
 * Control: makes one in memory
 * Record: mount $ANY
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include <sys/syscall.h>

#include "tests/redteam/sandbox.h"

static int inside(void)
{
	int context;

	enter_sandbox(0);
	context = NEED(syscall(SYS_fsopen, "ramfs", 0));
	return outcome(syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
}

static int allowed(void)
{
	int context;

	enter_sandbox(0);
	context = NEED(syscall(SYS_fsopen, "tmpfs", 0));
	NEED(syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
	return outcome(syscall(SYS_fsmount, context, 0, 0));
}

REDTEAM_INSIDE(inside, allowed)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a stacked file system its lower layer
 * Hook: fs_context_parse_param
 * Errno: EPERM
 * Control: gives one in memory its size
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
	context = NEED(syscall(SYS_fsopen, "overlay", 0));
	return outcome(
		syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "lowerdir", victim(""), 0));
}

static int allowed(void)
{
	int context;

	enter_sandbox(0);
	context = NEED(syscall(SYS_fsopen, "tmpfs", 0));
	return outcome(syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "size", "1M", 0));
}

REDTEAM_INSIDE(inside, allowed)

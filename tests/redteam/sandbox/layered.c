// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: mounts a directory outside as the lower layer of one of its own
 * Hook: sb_mount
 * Errno: EPERM
 * Control: mounts memory there
 * Record: mount $ANY
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include "tests/redteam/sandbox.h"

static int inside(void)
{
	char options[2 * PATH_SIZE];

	enter_sandbox(0);
	make_own_directory("here");
	snprintf(options, sizeof(options), "lowerdir=%s:%s", victim("dir"), victim("empty"));
	return outcome(mount("none", "here", "overlay", 0, options));
}

static int allowed(void)
{
	enter_sandbox(0);
	make_own_directory("here");
	return outcome(mount("none", "here", "tmpfs", 0, NULL));
}

REDTEAM_INSIDE(inside, allowed)

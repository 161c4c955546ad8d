// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: mounts a read-only file system writable
 * Hook: sb_mount, sb_remount
 * Errno: EPERM
 * Control: uses its own file
 * Record: mount $ANY
 * As: root
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(mkdir(victim("mounted"), 0755));
	NEED(mount("none", victim("mounted"), "tmpfs", MS_RDONLY, NULL));
}

static int attack(void)
{
	return outcome(mount("none", victim("mounted"), NULL, MS_REMOUNT, NULL));
}

REDTEAM(.setup = setup, .attack = attack)

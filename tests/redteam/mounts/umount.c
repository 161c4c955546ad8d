// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a mount away
 * Hook: sb_umount
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
	NEED(mount("none", victim("mounted"), "tmpfs", 0, NULL));
}

static int attack(void)
{
	return outcome(umount2(victim("mounted"), MNT_DETACH));
}

REDTEAM(.setup = setup, .attack = attack)

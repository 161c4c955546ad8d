// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes how mounts spread
 * Hook: sb_mount
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
	return outcome(mount("none", victim("mounted"), NULL, MS_SLAVE, NULL));
}

REDTEAM(.setup = setup, .attack = attack)

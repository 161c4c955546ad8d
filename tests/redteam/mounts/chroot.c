// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes its root
 * Hook: path_chroot
 * Errno: EPERM
 * Control: changes its directory
 * Record: chroot 0
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(chroot("run"));
}

static int control(void)
{
	return outcome(chdir("run"));
}

REDTEAM(.attack = attack, .control = control)

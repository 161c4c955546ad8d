// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gains all capabilities as uid 0 by running a program
 * Hook: (bounding set)
 * Errno: EPERM
 * Control: runs the program without them
 * Record: none
 * As: bare
 */
#include "tests/redteam/capability.h"

static int attack(void)
{
	return run_with_capability(has_capability(), CAP_SYS_ADMIN);
}

static int control(void)
{
	return attack() == EPERM ? 0 : BROKEN;
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes its root with the capabilities of a user namespace
 * Hook: capable
 * Errno: EPERM
 * Control: makes a user namespace
 * Record: capable $ANYSYS_CHROOT$ANY
 * As: bare
 * Contexts: vfork handler
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(unshare(CLONE_NEWUSER));
	return outcome(chroot("run"));
}

static int control(void)
{
	return outcome(unshare(CLONE_NEWUSER));
}

REDTEAM(.attack = attack, .control = control)

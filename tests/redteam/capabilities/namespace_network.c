// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has every capability in a user namespace and makes a network
 * Hook: capable
 * Errno: EPERM
 * Control: makes a user namespace
 * Record: capable $ANYSYS_ADMIN$ANY
 * As: bare
 * Contexts: vfork handler
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(unshare(CLONE_NEWUSER | CLONE_NEWNET));
}

static int control(void)
{
	return outcome(unshare(CLONE_NEWUSER));
}

REDTEAM(.attack = attack, .control = control)

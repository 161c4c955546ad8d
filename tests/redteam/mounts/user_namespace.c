// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a user namespace, where all capabilities begin anew
 * Hook: userns_create
 * Errno: EPERM
 * Control: makes a process
 * Record: userns 0
 * Contexts: vfork handler
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(unshare(CLONE_NEWUSER));
}

static int control(void)
{
	return in_child(use_own_file);
}

REDTEAM(.attack = attack, .control = control)

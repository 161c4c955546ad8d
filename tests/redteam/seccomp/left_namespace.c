// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: leaves for a user namespace
 * Hook: seccomp
 * Errno: EPERM
 * Control: gets a file table of its own
 * Record: system-call unshare
 * As: root+filter user+filter
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(unshare(CLONE_NEWUSER));
}

static int control(void)
{
	return outcome(unshare(CLONE_FILES | CLONE_FS));
}

REDTEAM(.attack = attack, .control = control)

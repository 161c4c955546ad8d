// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the priority of all processes of a user
 * Hook: task_setnice
 * Errno: EPERM
 * Control: changes its own
 * Record: sched process $ANY
 */
#include <sys/resource.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(setpriority(PRIO_USER, getuid(), 1));
}

static int control(void)
{
	return outcome(setpriority(PRIO_PROCESS, 0, 1));
}

REDTEAM(.attack = attack, .control = control)

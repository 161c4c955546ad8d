// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the priority of a process outside
 * Hook: task_setnice
 * Errno: EPERM
 * Control: changes its own
 * Record: sched process $PID
 */
#include <sys/resource.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(setpriority(PRIO_PROCESS, host_pid(), 1));
}

static int control(void)
{
	return outcome(setpriority(PRIO_PROCESS, 0, 1));
}

REDTEAM(.attack = attack, .control = control)

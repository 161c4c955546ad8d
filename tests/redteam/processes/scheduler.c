// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the scheduler of a process outside
 * Hook: task_setscheduler
 * Errno: EPERM
 * Control: changes its own
 * Record: sched process $PID
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	struct sched_param none = {};

	return outcome(sched_setscheduler(host_pid(), SCHED_BATCH, &none));
}

static int control(void)
{
	struct sched_param none = {};

	return outcome(sched_setscheduler(0, SCHED_BATCH, &none));
}

REDTEAM(.attack = attack, .control = control)

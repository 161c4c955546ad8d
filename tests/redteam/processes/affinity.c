// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: chooses the processors of a process outside
 * Hook: task_setscheduler
 * Errno: EPERM
 * Control: chooses its own
 * Record: sched process $PID
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	return outcome(sched_setaffinity(host_pid(), sizeof(set), &set));
}

static int control(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	return outcome(sched_setaffinity(0, sizeof(set), &set));
}

REDTEAM(.attack = attack, .control = control)

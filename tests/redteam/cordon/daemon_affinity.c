// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: chains the daemon to one processor
 * Hook: task_setscheduler
 * Errno: EPERM
 * Control: chains itself
 * Record: sched process $DAEMON
 * As: root
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static int chain(pid_t pid)
{
	cpu_set_t set;

	NEED(sched_getaffinity(pid, sizeof(set), &set));
	return outcome(sched_setaffinity(pid, sizeof(set), &set));
}

static int attack(void)
{
	return chain(atoi(setting("REDTEAM_DAEMON_PID")));
}

static int control(void)
{
	return chain(0);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: asks whether a process outside is there
 * Hook: task_kill
 * Errno: EPERM
 * Control: asks the same of itself
 * Record: signal process $PID$ANY
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(kill(host_pid(), 0));
}

static int control(void)
{
	return outcome(kill(getpid(), 0));
}

REDTEAM(.attack = attack, .control = control)

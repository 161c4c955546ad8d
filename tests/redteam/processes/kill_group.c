// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: signals a process group outside
 * Hook: task_kill
 * Errno: EPERM
 * Control: signals its own group
 * Record: signal process $PID$ANY
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(kill(-host_pid(), SIGURG));
}

static int control(void)
{
	return outcome(kill(0, SIGURG));
}

REDTEAM(.attack = attack, .control = control)

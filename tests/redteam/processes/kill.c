// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: signals a process outside
 * Hook: task_kill
 * Errno: EPERM
 * Control: signals itself
 * Record: signal process $PID$ANY
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(kill(host_pid(), SIGUSR1));
}

static int control(void)
{
	return outcome(kill(getpid(), SIGURG));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: queues a signal for a process outside
 * Hook: task_kill
 * Errno: EPERM
 * Control: queues one for itself
 * Record: signal process $PID$ANY
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(sigqueue(host_pid(), SIGUSR1, (union sigval){}));
}

static int control(void)
{
	return outcome(sigqueue(getpid(), SIGURG, (union sigval){}));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: signals a thread outside
 * Hook: task_kill
 * Errno: EPERM
 * Control: signals its own thread
 * Record: signal process $PID$ANY
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(syscall(SYS_tgkill, host_pid(), host_pid(), SIGUSR1));
}

static int control(void)
{
	return outcome(syscall(SYS_tgkill, getpid(), gettid(), SIGURG));
}

REDTEAM(.attack = attack, .control = control)

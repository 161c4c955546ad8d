// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the I/O priority of a process outside
 * Hook: task_setioprio
 * Errno: EPERM
 * Control: changes its own
 * Record: sched process $PID
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(
		syscall(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, host_pid(), 2 << 13 | 7));
}

static int control(void)
{
	return outcome(syscall(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, 0, 2 << 13 | 7));
}

REDTEAM(.attack = attack, .control = control)

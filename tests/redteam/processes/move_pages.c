// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves the memory of a process outside
 * Hook: task_movememory, ptrace_access_check
 * Errno: EPERM
 * Control: uses its own file
 * Record: trace process $PID
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(syscall(SYS_migrate_pages, host_pid(), 8, (unsigned long[]){1},
			       (unsigned long[]){1}));
}

REDTEAM(.attack = attack)

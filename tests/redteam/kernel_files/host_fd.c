// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a descriptor of a process outside
 * Hook: ptrace_access_check
 * Errno: EACCES
 * Control: uses its own file
 * Record: trace process $PID as EPERM
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/0", host_pid());
	return outcome(open(path, O_RDONLY | O_NONBLOCK));
}

REDTEAM(.attack = attack)

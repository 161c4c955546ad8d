// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gets hold of the mount namespace of a process outside
 * Hook: ptrace_access_check
 * Errno: EACCES
 * Control: uses its own file
 * Record: trace process $PID as EPERM
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", host_pid());
	return open_with(path, O_RDONLY);
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: asks where a process outside keeps its locks
 * Hook: ptrace_access_check
 * Errno: EPERM
 * Control: asks for its own
 * Record: trace process $PID
 */
#include <linux/futex.h>

#include "tests/redteam/attack.h"

static int ask(pid_t pid)
{
	struct robust_list_head *head;
	size_t length;

	return outcome(syscall(SYS_get_robust_list, pid, &head, &length));
}

static int attack(void)
{
	return ask(host_pid());
}

static int control(void)
{
	return ask(0);
}

REDTEAM(.attack = attack, .control = control)

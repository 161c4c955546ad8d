// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a process in a user namespace
 * Hook: userns_create
 * Errno: EPERM
 * Control: uses its own file
 * Record: userns 0
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	pid_t pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return pid < 0 ? errno : exit_status(pid);
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a child in a user namespace
 * Hook: seccomp
 * Errno: EPERM
 * Control: makes a child
 * Record: system-call clone
 * As: root+filter user+filter
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static long make_child(unsigned long flags)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	return pid;
}

static int attack(void)
{
	return outcome(make_child(CLONE_NEWUSER));
}

static int control(void)
{
	return outcome(make_child(0));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a descriptor of the daemon, of which the maps are some
 * Hook: ptrace_access_check
 * Errno: EPERM
 * Control: takes one of its own
 * Record: trace process $DAEMON
 * As: root
 */
#include "tests/redteam/attack.h"

static int take(pid_t pid)
{
	int fd = NEED(syscall(SYS_pidfd_open, pid, 0));

	return outcome(syscall(SYS_pidfd_getfd, fd, 1, 0));
}

static int attack(void)
{
	return take(atoi(setting("REDTEAM_DAEMON_PID")));
}

static int control(void)
{
	return take(getpid());
}

REDTEAM(.attack = attack, .control = control)

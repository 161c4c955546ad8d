// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has a timer stop the daemon (SIGSTOP by its process descriptor)
 * Hook: task_kill
 * Errno: EPERM
 * Control: signals itself so
 * Record: signal process $DAEMON$ANY
 * As: root
 */
#include "tests/redteam/attack.h"

static int probe(pid_t pid)
{
	int fd = NEED(syscall(SYS_pidfd_open, pid, 0));

	return outcome(syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0));
}

static int attack(void)
{
	return probe(atoi(setting("REDTEAM_DAEMON_PID")));
}

static int control(void)
{
	return probe(getpid());
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: signals a process outside by its pidfd
 * Hook: task_kill
 * Errno: EPERM
 * Control: signals itself so
 * Record: signal process $PID$ANY
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	int fd = NEED(syscall(SYS_pidfd_open, host_pid(), 0));

	return outcome(syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0));
}

static int control(void)
{
	int fd = NEED(syscall(SYS_pidfd_open, getpid(), 0));

	return outcome(syscall(SYS_pidfd_send_signal, fd, SIGURG, NULL, 0));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: writes the memory of a process outside
 * Hook: ptrace_access_check
 * Errno: EPERM
 * Control: writes its own
 * Record: trace process $PID
 */
#include <sys/uio.h>

#include "tests/redteam/attack.h"

static char here;

static ssize_t transfer(pid_t pid)
{
	struct iovec local = {&here, 1}, remote = {&here, 1};

	return process_vm_writev(pid, &local, 1, &remote, 1, 0);
}

static int attack(void)
{
	int error = outcome(transfer(host_pid()));

	/* Past the check it is only a matter of finding an address. */
	return error == EFAULT ? 0 : error;
}

static int control(void)
{
	return outcome(transfer(getpid()));
}

REDTEAM(.attack = attack, .control = control)

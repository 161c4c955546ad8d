// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has memory of a process outside thrown out
 * Hook: ptrace_access_check
 * Errno: EPERM
 * Control: gives advice about its own
 * Record: trace process $PID
 * As: root
 */
#include <sys/uio.h>

#include "tests/redteam/attack.h"

static int advise(pid_t pid, void *address)
{
	struct iovec range = {address, 4096};
	int fd = NEED(syscall(SYS_pidfd_open, pid, 0));

	return outcome(syscall(SYS_process_madvise, fd, &range, 1, MADV_COLD, 0));
}

static void *own_page(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		broken("mmap");
	return page;
}

/* Where nothing is mapped there, the target's memory was had all the same. */
static int attack(void)
{
	int error = advise(host_pid(), own_page());

	if (error == EACCES)
		return EPERM;
	return error == ENOMEM ? 0 : error;
}

static int control(void)
{
	return advise(getpid(), own_page());
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has a filter of its own allow what cordon's refuses
 * Hook: seccomp
 * Errno: EPERM
 * Control: has its own filter, and works on
 * Record: system-call userfaultfd
 * As: root+filter user+filter
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <sys/prctl.h>

#include "tests/redteam/attack.h"

static void allow_everything(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};

	NEED(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	NEED(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

static int attack(void)
{
	allow_everything();
	return outcome(syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC));
}

static int control(void)
{
	allow_everything();
	return use_own_file();
}

REDTEAM(.attack = attack, .control = control)

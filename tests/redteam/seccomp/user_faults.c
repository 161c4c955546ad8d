// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: handles page faults of its own memory, which stops the kernel wherever it likes
 * Hook: seccomp
 * Errno: EPERM
 * Control: uses its own file
 * Record: system-call userfaultfd
 * As: root+filter user+filter
 */
#include <linux/userfaultfd.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC));
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads memory by process number
 * Hook: seccomp
 * Errno: EPERM
 * Control: reads it
 * Record: system-call process_vm_readv
 * As: root+filter user+filter
 */
#include <sys/uio.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	char from[8] = "memory", to[8];
	struct iovec there = {from, sizeof(from)}, here = {to, sizeof(to)};

	return outcome(process_vm_readv(getpid(), &here, 1, &there, 1, 0));
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a system call by the 32-bit entry
 * Hook: seccomp
 * Errno: ENOSYS
 * Control: makes it by the usual one
 * Record: system-call getpid (i386)
 * As: root+filter user+filter
 * Needs: machine x86_64
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
	return result == getpid() ? 0 : (int)-result;
}

static int control(void)
{
	return syscall(SYS_getpid) == getpid() ? 0 : EINVAL;
}

REDTEAM(.attack = attack, .control = control)

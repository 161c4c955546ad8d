// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes memory executable by a protection key's system call
 * Hook: file_mprotect
 * Errno: EACCES
 * Control: makes it readable so
 * Record: mprotect @anonymous
 */
#include "tests/redteam/attack.h"

static int protect(int prot)
{
	void *memory = mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		broken("mmap");
	return outcome(syscall(SYS_pkey_mprotect, memory, 4096, prot, -1));
}

static int attack(void)
{
	return protect(PROT_READ | PROT_EXEC);
}

static int control(void)
{
	return protect(PROT_READ);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes its stack executable
 * Hook: file_mprotect
 * Errno: EACCES
 * Control: uses its own file
 * Record: mprotect @anonymous
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char here;
	unsigned long page = (unsigned long)&here & ~4095ul;

	return outcome(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC));
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes its own code writable
 * Hook: file_mprotect
 * Errno: EACCES
 * Control: leaves it executable
 * Record: mprotect @anonymous
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	unsigned long page = (unsigned long)&read_file & ~4095ul;

	return outcome(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC));
}

static int control(void)
{
	unsigned long page = (unsigned long)&read_file & ~4095ul;

	return outcome(mprotect((void *)page, 4096, PROT_READ | PROT_EXEC));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes memory executable after writing to it
 * Hook: file_mprotect
 * Errno: EACCES
 * Control: makes it read-only
 * Record: mprotect @anonymous
 */
#include "tests/redteam/attack.h"
#include "tests/redteam/machine_code.h"

static void *page(void)
{
	char *at =
		NEED(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	put_machine_code(at, machine_return, sizeof(machine_return));
	return at;
}

static int attack(void)
{
	return outcome(mprotect(page(), 4096, PROT_READ | PROT_EXEC));
}

static int control(void)
{
	return outcome(mprotect(page(), 4096, PROT_READ));
}

REDTEAM(.attack = attack, .control = control)

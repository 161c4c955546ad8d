// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs code from a heap that personality made executable
 * Hook: mmap_addr
 * Errno: EACCES
 * Control: uses its own file
 * Record: mmap @anonymous
 */
#include <sys/personality.h>

#include "tests/redteam/attack.h"
#include "tests/redteam/machine_code.h"

static void refused(int number)
{
	(void)number;
	_exit(EACCES);
}

static int run_from_heap(void)
{
	char *end;

	NEED(personality(READ_IMPLIES_EXEC));
	end = (char *)syscall(SYS_brk, 0);
	if ((char *)syscall(SYS_brk, end + 8192) != end + 8192)
		return EACCES;
	end = (char *)(((unsigned long)end + 4095) & ~4095ul);
	signal(SIGSEGV, refused);
	put_machine_code(end, machine_return, sizeof(machine_return));
	((void (*)(void))end)();
	return 0;
}

static int attack(void)
{
	return in_doomed_child(run_from_heap);
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes shared memory that is executable
 * Hook: mmap_file
 * Errno: EACCES
 * Control: makes shared memory
 * Record: mmap @memfd$ANY
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? errno
		       : 0;
}

static int control(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? errno
		       : 0;
}

REDTEAM(.attack = attack, .control = control)

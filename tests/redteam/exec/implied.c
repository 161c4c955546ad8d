// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has all readable memory be executable by personality, and maps some
 * Hook: mmap_addr
 * Errno: EACCES
 * Control: uses its own file
 * Record: mmap @anonymous
 */
#include <sys/personality.h>

#include "tests/redteam/attack.h"

static int map_implied(void)
{
	NEED(personality(READ_IMPLIES_EXEC));
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? errno
		       : 0;
}

static int attack(void)
{
	return in_doomed_child(map_implied);
}

REDTEAM(.attack = attack)

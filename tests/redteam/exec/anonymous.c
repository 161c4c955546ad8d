// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes memory that is writable and executable
 * Hook: mmap_file
 * Errno: EACCES
 * Control: makes memory that is writable
 * Record: mmap @anonymous
 */
#include "tests/redteam/attack.h"

static int map_anonymous(int protection)
{
	void *at = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? errno : 0;
}

static int attack(void)
{
	return map_anonymous(PROT_READ | PROT_WRITE | PROT_EXEC);
}

static int control(void)
{
	return map_anonymous(PROT_READ | PROT_WRITE);
}

REDTEAM(.attack = attack, .control = control)

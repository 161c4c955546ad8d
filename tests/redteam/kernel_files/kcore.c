// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens the machine's memory as the core file that it is
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open /proc/kcore
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/proc/kcore", O_RDONLY);
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: lists the keys of all
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open /proc/keys
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return read_file("/proc/keys");
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside by its absolute path
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return read_file(victim("secret"));
}

REDTEAM(.attack = attack)

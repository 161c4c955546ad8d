// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the mode of a file outside through a descriptor
 * Hook: path_chmod
 * Errno: EACCES
 * Control: uses its own file
 * Record: chmod $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", NEED(open(victim("secret"), O_PATH)));
	return outcome(chmod(name, 0666));
}

REDTEAM(.attack = attack)

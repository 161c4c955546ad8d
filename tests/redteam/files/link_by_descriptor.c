// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a file outside, held by O_PATH, a name in its directory
 * Hook: path_link
 * Errno: EXDEV
 * Control: uses its own file
 * Record: link $WORK/inside
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", NEED(open(victim("secret"), O_PATH)));
	return outcome(linkat(AT_FDCWD, name, AT_FDCWD, "inside", AT_SYMLINK_FOLLOW));
}

REDTEAM(.attack = attack)

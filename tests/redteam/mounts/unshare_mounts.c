// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside in a mount namespace of its own
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $VICTIM/secret
 * As: root
 */
#include <sched.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(unshare(CLONE_NEWNS));
	return read_file(victim("secret"));
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a file outside for neither reading nor writing, which still gives access to its
 *   ioctls
 * Hook: file_open
 * Errno: EACCES
 * Control: opens its own file so
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with(victim("secret"), O_ACCMODE);
}

static int control(void)
{
	return open_with("own", O_ACCMODE);
}

REDTEAM(.attack = attack, .control = control)

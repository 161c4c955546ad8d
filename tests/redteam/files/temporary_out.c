// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a file without a name outside (O_TMPFILE)
 * Hook: file_open
 * Errno: EACCES
 * Control: makes one in its directory
 * Record: open $VICTIM/dir$ANY
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with(victim("dir"), O_TMPFILE | O_RDWR);
}

static int control(void)
{
	return open_with(".", O_TMPFILE | O_RDWR);
}

REDTEAM(.attack = attack, .control = control)

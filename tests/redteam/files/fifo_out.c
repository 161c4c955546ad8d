// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a named pipe outside
 * Hook: path_mknod
 * Errno: EACCES
 * Control: makes one in its directory
 * Record: mknod $VICTIM/dir/fifo
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(mkfifo(victim("dir/fifo"), 0600));
}

static int control(void)
{
	return outcome(mkfifo("fifo", 0600));
}

REDTEAM(.attack = attack, .control = control)

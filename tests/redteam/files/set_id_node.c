// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a file that runs as its group by mknod(2), which does not open it
 * Hook: path_mknod
 * Errno: EPERM
 * Control: makes one that does not
 * Record: create $WORK/new
 * As: root bare user
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(mknod("new", S_IFREG | 02755, 0));
}

static int control(void)
{
	return outcome(mknod("plain", S_IFREG | 0755, 0));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a node of a device in its own directory
 * Hook: path_mknod
 * Errno: EPERM
 * Control: makes a named pipe
 * Record: mknod $WORK/zero
 * As: root
 */
#include <sys/sysmacros.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(mknod("zero", S_IFCHR | 0600, makedev(1, 5)));
}

static int control(void)
{
	return outcome(mknod("fifo", S_IFIFO | 0600, 0));
}

REDTEAM(.attack = attack, .control = control)

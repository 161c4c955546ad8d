// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a device for neither reading nor writing, which still gives access to its ioctls
 * Hook: file_open
 * Errno: EACCES
 * Control: opens a device so that it may use
 * Record: open /dev/loop-control
 * As: root
 * Where: tmpfs
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	if (access("/dev/loop-control", F_OK) < 0)
		NEED(mknod("/dev/loop-control", S_IFCHR | 0600, 10 << 8 | 237));
}

static int attack(void)
{
	return open_with("/dev/loop-control", O_ACCMODE);
}

static int control(void)
{
	return open_with("/dev/null", O_ACCMODE);
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

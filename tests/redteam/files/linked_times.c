// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sets the times of a file of the work directory that has another name outside
 * Hook: inode_setattr
 * Errno: EPERM
 * Control: sets those of a file with a second name of its own making
 * Record: setattr $WORK/planted
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/links.h"

static int change(const char *path)
{
	return outcome(utimensat(AT_FDCWD, path, (struct timespec[2]){}, 0));
}

static int attack(void)
{
	return change("planted");
}

static int control(void)
{
	return change(own_link());
}

REDTEAM(.setup = plant_link, .attack = attack, .control = control)

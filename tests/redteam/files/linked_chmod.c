// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the mode of a file of the work directory that has another name outside
 * Hook: path_chmod
 * Errno: EPERM
 * Control: changes that of a file with a second name of its own making
 * Record: chmod $WORK/planted
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/links.h"

static int change(const char *path)
{
	return outcome(chmod(path, 0666));
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

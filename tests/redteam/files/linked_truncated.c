// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: truncates a file of the work directory that has another name outside
 * Hook: path_truncate
 * Errno: EPERM
 * Control: truncates a file with a second name of its own making
 * Record: truncate $WORK/planted
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/links.h"

static int change(const char *path)
{
	return outcome(truncate(path, 0));
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

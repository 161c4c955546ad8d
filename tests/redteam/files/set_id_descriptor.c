// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has a file of its own run as its group, by descriptor, before anybody may run it
 * Hook: path_chmod
 * Errno: EPERM
 * Control: makes it a program
 * Record: chmod $WORK/own
 * As: root bare user
 */
#include "tests/redteam/attack.h"

static int change(mode_t mode)
{
	return outcome(fchmod(NEED(open("own", O_RDONLY | O_CLOEXEC)), mode));
}

static int attack(void)
{
	return change(02644);
}

static int control(void)
{
	return change(0755);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has a file of its own run as its owner
 * Hook: path_chmod
 * Errno: EPERM
 * Control: makes it a program
 * Record: chmod $WORK/own
 * As: root bare user
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(chmod("own", 04755));
}

static int control(void)
{
	return outcome(chmod("own", 01755));
}

REDTEAM(.attack = attack, .control = control)

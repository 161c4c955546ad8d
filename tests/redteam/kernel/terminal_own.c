// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes the terminal of whoever started it its own and types into it
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: uses its own file
 * Record: ioctl $ANY
 * As: root bare user
 */
#include <sys/ioctl.h>

#include "tests/redteam/attack.h"

static int type(void)
{
	NEED(setsid());
	NEED(ioctl(STDIN_FILENO, TIOCSCTTY, 0));
	return outcome(ioctl(STDIN_FILENO, TIOCSTI, " "));
}

static int attack(void)
{
	return in_child(type);
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: types into a terminal that it has made
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: opens a terminal that it has made, by its name and by TIOCGPTPEER
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: ioctl $ANY
 */
#include "tests/redteam/terminals.h"

static int type(void)
{
	int master = new_master(), slave;

	NEED(setsid());
	slave = NEED(open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC));
	NEED(ioctl(slave, TIOCSCTTY, 0));
	return outcome(ioctl(slave, TIOCSTI, " "));
}

static int attack(void)
{
	return in_child(type);
}

REDTEAM(.attack = attack, .control = use_own_terminal)

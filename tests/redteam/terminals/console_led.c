// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: leads the output to the console to a terminal that it has made
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: opens a terminal that it has made, by its name and by TIOCGPTPEER
 * As: root+temporary
 * Where: tmpfs
 * Record: ioctl $ANY
 */
#include "tests/redteam/terminals.h"

static int attack(void)
{
	int master = new_master(), error, console;
	int slave = NEED(open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC));

	error = outcome(ioctl(slave, TIOCCONS, 0));
	/* Asked of the console, it is undone. */
	console = open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (console >= 0)
		ioctl(console, TIOCCONS, 0);
	return error;
}

REDTEAM(.attack = attack, .control = use_own_terminal)

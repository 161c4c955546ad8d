// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens the terminal behind an inherited master that the host has made
 * Hook: file_open
 * Errno: EACCES
 * Control: opens a terminal that it has made, by its name and by TIOCGPTPEER
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open /dev/pts/$ANY
 */
#include "tests/redteam/terminals.h"

static int attack(void)
{
	return outcome(
		ioctl(atoi(setting("REDTEAM_MASTER")), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
}

REDTEAM(.attack = attack, .control = use_own_terminal)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: types into the terminal of whoever started it
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: uses its own file
 * Record: ioctl $ANY
 * As: root
 */
#include <sys/ioctl.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(ioctl(STDIN_FILENO, TIOCSTI, " "));
}

REDTEAM(.attack = attack)

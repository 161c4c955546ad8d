// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sets the line discipline of a terminal, as programs of drivers do
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: asks which one it has
 * Record: ioctl $ANY
 * As: root user
 */
#include <sys/ioctl.h>

#include "tests/redteam/terminal.h"

static int attack(void)
{
	int discipline = 0;

	return outcome(ioctl(attacked_terminal(), TIOCSETD, &discipline));
}

static int control(void)
{
	int discipline;

	return outcome(ioctl(STDIN_FILENO, TIOCGETD, &discipline));
}

REDTEAM(.attack = attack, .control = control)

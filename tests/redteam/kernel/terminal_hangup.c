// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: hangs up the terminal of whoever started it by ioctl
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: asks for its size
 * Record: ioctl $ANY
 * As: root
 */
#include <sys/ioctl.h>

#include "tests/redteam/terminal.h"

static int attack(void)
{
	return outcome(ioctl(attacked_terminal(), TIOCVHANGUP));
}

static int control(void)
{
	struct winsize size;

	return outcome(ioctl(STDIN_FILENO, TIOCGWINSZ, &size));
}

REDTEAM(.attack = attack, .control = control)

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

#include "tests/redteam/attack.h"

/* Others need the terminal yet: what works is shown on another. */
static int terminal(void)
{
	int fd;

	if (getenv("REDTEAM_CONFINED"))
		return STDIN_FILENO;
	fd = NEED(posix_openpt(O_RDWR | O_NOCTTY));
	NEED(unlockpt(fd));
	return NEED(open(ptsname(fd), O_RDWR | O_NOCTTY));
}

static int attack(void)
{
	int discipline = 0;

	return outcome(ioctl(terminal(), TIOCSETD, &discipline));
}

static int control(void)
{
	int discipline;

	return outcome(ioctl(STDIN_FILENO, TIOCGETD, &discipline));
}

REDTEAM(.attack = attack, .control = control)

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
	return outcome(ioctl(terminal(), TIOCVHANGUP));
}

static int control(void)
{
	struct winsize size;

	return outcome(ioctl(STDIN_FILENO, TIOCGWINSZ, &size));
}

REDTEAM(.attack = attack, .control = control)

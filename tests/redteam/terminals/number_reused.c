// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a terminal of the host that has got the number of a terminal that it made
 * Hook: file_open
 * Errno: EACCES
 * Control: opens a terminal that it made, with the number of another one that it made
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open /dev/pts/$ANY
 */
#include "tests/redteam/terminals.h"

#define ATTEMPTS 64

/* The first name that is free again. */
static const char *leave_name(void)
{
	static char name[PATH_SIZE];
	int master = new_master();

	snprintf(name, sizeof(name), "%s", ptsname(master));
	close(NEED(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)));
	close(master);
	/* The kernel gives a number back some time later. */
	usleep(10000);
	return name;
}

static int attack(void)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		const char *name = leave_name();
		char request[PATH_SIZE + 16];

		snprintf(request, sizeof(request), "socket:terminal:%s", name);
		receive_descriptor(request);
		if (access(name, F_OK) == 0)
			return open_terminal(name);
	}
	return BROKEN;
}

static int control(void)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		const char *name = leave_name();
		int master = new_master();

		if (strcmp(name, ptsname(master)) == 0)
			return open_terminal(name);
		close(master);
	}
	return BROKEN;
}

REDTEAM(.attack = attack, .control = control)

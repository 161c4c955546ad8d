// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes the terminal away from the session outside that has it
 * Hook: file_ioctl
 * Errno: EPERM
 * Control: takes one that nobody has
 * Record: ioctl $ANY
 * As: root
 */
#include <pty.h>
#include <sys/ioctl.h>

#include "tests/redteam/net.h"

static void link_to(int terminal, const char *name)
{
	char path[PATH_SIZE];

	if (ttyname_r(terminal, path, sizeof(path)))
		broken("ttyname_r");
	NEED(symlink(path, name));
}

/* Has one for its own until all is over, and holds another. */
static void outside(void)
{
	int master, taken, nobodys;

	NEED(setsid());
	alarm(900);
	NEED(openpty(&master, &taken, NULL, NULL, NULL));
	link_to(taken, "taken");
	NEED(ioctl(taken, TIOCSCTTY, 0));
	NEED(openpty(&master, &nobodys, NULL, NULL, NULL));
	link_to(nobodys, "nobodys");
	make_file("ready", "x", 0644);
	close(STDOUT_FILENO);
	for (;;)
		pause();
}

static void setup(void)
{
	if (NEED(fork()) == 0)
		outside();
	while (access("ready", F_OK) < 0)
		usleep(1000);
}

static const char *wanted;

static int take(void)
{
	int fd = NEED(open(wanted, O_RDWR | O_NOCTTY | O_CLOEXEC));

	NEED(setsid());
	return outcome(ioctl(fd, TIOCSCTTY, 1));
}

static int attack(void)
{
	wanted = "taken";
	return in_child(take);
}

static int control(void)
{
	wanted = "nobodys";
	return in_child(take);
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

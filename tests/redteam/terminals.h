/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudo-terminals of the attacker and of the host. */
#ifndef CORDON_TESTS_REDTEAM_TERMINALS_H
#define CORDON_TESTS_REDTEAM_TERMINALS_H

#include <sys/ioctl.h>

#include "tests/redteam/net.h"

static inline int new_master(void)
{
	int master = NEED(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));

	NEED(unlockpt(master));
	return master;
}

/* A byte that is written on one side has to arrive on the other. */
static inline int try_pair(int master, int slave)
{
	char bytes[4] = "";

	NEED(write(slave, "x", 1));
	NEED(read(master, bytes, sizeof(bytes)));
	return bytes[0] == 'x' ? 0 : EIO;
}

static inline int open_terminal(const char *path)
{
	return open_with(path, O_RDWR | O_NOCTTY);
}

/* A pair of the attacker's own, by its name and by TIOCGPTPEER. */
static inline int use_own_terminal(void)
{
	int master = new_master(), slave, error;

	slave = NEED(open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC));
	error = try_pair(master, slave);
	close(slave);
	if (error)
		return error;
	slave = NEED(ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
	error = try_pair(master, slave);
	close(slave);
	close(master);
	return error;
}

/* Of a setup: a terminal of the attacker's user, which the host holds. */
static inline void hold_others_terminal(void)
{
	int master, slave;

	master = new_master();
	slave = NEED(open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC));
	NEED(fchown(slave, attacker(), attacker()));
	NEED(symlink(ptsname(master), "theirs"));
	make_file("ready", "x", 0644);
	for (;;)
		pause();
}

static inline void make_others_terminal(void)
{
	leave_behind(hold_others_terminal);
	wait_for_file("ready");
}

#endif

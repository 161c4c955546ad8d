// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a lease of a file in its directory that it may only read: writers wait for it
 * Hook: file_fcntl
 * Errno: EACCES
 * Control: takes one of its own file
 * Record: open $WORK/fixed
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file("fixed", "readable\n", 0644);
	NEED(chown("fixed", attacker(), attacker()));
}

static int lease(const char *path)
{
	int fd = NEED(open(path, O_RDONLY | O_CLOEXEC));

	return outcome(fcntl(fd, F_SETLEASE, F_RDLCK));
}

static int attack(void)
{
	return lease("fixed");
}

static int control(void)
{
	return lease("own");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

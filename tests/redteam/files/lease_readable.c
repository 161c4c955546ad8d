// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a lease on a file that it may only read: writers wait for it
 * Hook: file_fcntl
 * Errno: EACCES
 * Control: takes one on its own file
 * Record: open $OPEN/writable
 * As: root bare user
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static int lease(const char *path)
{
	int fd = NEED(open(path, O_RDONLY | O_CLOEXEC));

	return outcome(fcntl(fd, F_SETLEASE, F_RDLCK));
}

static int attack(void)
{
	return lease(open_place("writable"));
}

static int control(void)
{
	return lease("own");
}

REDTEAM(.attack = attack, .control = control)

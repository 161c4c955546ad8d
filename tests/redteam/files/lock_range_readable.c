// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a shared lock on a range of a file that it may only read
 * Hook: file_lock
 * Errno: EACCES
 * Control: does so in a file of its own, and asks who holds a lock on the other
 * Record: open $OPEN/writable
 */
#include "tests/redteam/attack.h"

static int lock(const char *path, int command)
{
	struct flock range = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};

	return outcome(fcntl(NEED(open(path, O_RDONLY | O_CLOEXEC)), command, &range));
}

static int attack(void)
{
	return lock(open_place("writable"), F_SETLK);
}

static int control(void)
{
	int error = lock("own", F_SETLK);

	return error ? error : lock(open_place("writable"), F_GETLK);
}

REDTEAM(.attack = attack, .control = control)

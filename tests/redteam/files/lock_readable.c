// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: locks a file that it may only read, for all who would lock it
 * Hook: file_lock
 * Errno: EACCES
 * Control: locks its own file
 * Record: open $OPEN/writable
 * As: root bare user
 */
#include <sys/file.h>

#include "tests/redteam/attack.h"

static int lock(const char *path)
{
	return outcome(flock(NEED(open(path, O_RDONLY | O_CLOEXEC)), LOCK_EX | LOCK_NB));
}

static int attack(void)
{
	return lock(open_place("writable"));
}

static int control(void)
{
	return lock("own");
}

REDTEAM(.attack = attack, .control = control)

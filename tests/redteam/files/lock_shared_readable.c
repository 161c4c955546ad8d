// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: keeps those who would write a file from locking it, by a shared lock on what it may only
 *   read
 * Hook: file_lock
 * Errno: EACCES
 * Control: takes a shared lock on a file of its own that is open for reading
 * Record: open $OPEN/writable
 */
#include <sys/file.h>

#include "tests/redteam/attack.h"

static int lock(const char *path)
{
	return outcome(flock(NEED(open(path, O_RDONLY | O_CLOEXEC)), LOCK_SH | LOCK_NB));
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

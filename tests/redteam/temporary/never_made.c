// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gets a name in /tmp granted for what cannot be made, and reads what is then put there
 * Hook: file_open
 * Errno: EACCES
 * Control: makes, reads and removes one of its own
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open $ANY-awaited
 */
#include "tests/redteam/temporary.h"

/* A block device without a number: the hooks grant a name, and mknod(2) refuses. */
static int fail_to_make(const char *path)
{
	return mknod(path, S_IFBLK | 0600, 0) < 0 ? 0 : BROKEN;
}

static void put_there(void)
{
	wait_for_file(temporary("asked"));
	make_others_file(temporary("awaited"));
}

static void setup(void)
{
	leave_behind(put_there);
}

static int attack(void)
{
	if (getuid() != 0 && fail_to_make(temporary("awaited")))
		return BROKEN;
	NEED(mkdir(temporary("asked"), 0700));
	if (getuid() != 0 && fail_to_make(temporary("awaited")) && errno != EEXIST)
		return BROKEN;
	wait_for_file(temporary("awaited"));
	return read_file(temporary("awaited"));
}

REDTEAM(.setup = setup, .attack = attack, .control = use_temporary)

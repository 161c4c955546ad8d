// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file that somebody has put in the place of one that it has made in /tmp
 * Hook: file_open
 * Errno: EACCES
 * Control: makes, reads and removes one of its own
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open $ANY-watched
 */
#include "tests/redteam/temporary.h"

static void put_in_place(void)
{
	wait_for_file(temporary("ready"));
	make_others_file(temporary("new"));
	NEED(rename(temporary("new"), temporary("watched")));
}

static void setup(void)
{
	leave_behind(put_in_place);
}

static int attack(void)
{
	struct stat before, now;
	int error = write_file(temporary("watched"));

	if (error)
		return error;
	NEED(stat(temporary("watched"), &before));
	error = write_file(temporary("ready"));
	if (error)
		return error;
	do {
		usleep(20000);
		NEED(stat(temporary("watched"), &now));
	} while (now.st_ino == before.st_ino);
	return read_file(temporary("watched"));
}

REDTEAM(.setup = setup, .attack = attack, .control = use_temporary)

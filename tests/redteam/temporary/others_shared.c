// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file that somebody else has made in /dev/shm
 * Hook: file_open
 * Errno: EACCES
 * Control: makes, reads and removes one of its own there
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open /dev/shm/$ANY-theirs
 */
#include "tests/redteam/temporary.h"

static void setup(void)
{
	make_others_file(temporary_in("/dev/shm", "theirs"));
}

static int attack(void)
{
	return read_file(temporary_in("/dev/shm", "theirs"));
}

static int control(void)
{
	return use_file(temporary_in("/dev/shm", "mine"));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

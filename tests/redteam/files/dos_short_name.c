// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file on vfat by its short name, which no rule denies
 * Hook: file_open
 * Errno: EACCES
 * Control: reads a file there with a tilde in its name
 * Record: open $WORK/dos/GIT-CR~1
 * Where: tmpfs
 */
#include "tests/redteam/folding.h"

static void setup(void)
{
	mount_dos();
	make_file("dos/.git-credentials", "text\n", 0644);
	make_file("dos/plain~", "text\n", 0644);
}

static int attack(void)
{
	return read_file("dos/GIT-CR~1");
}

static int control(void)
{
	return read_file("dos/plain~");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file on vfat by its name with dots behind it, which do not count
 * Hook: file_open
 * Errno: EACCES
 * Control: reads a file there with a dot in its name
 * Record: open $WORK/dos/.netrc
 * Where: tmpfs
 */
#include "tests/redteam/folding.h"

static void setup(void)
{
	mount_dos();
	make_file("dos/.netrc", "text\n", 0644);
	make_file("dos/plain.text", "text\n", 0644);
}

static int attack(void)
{
	return read_file("dos/.netrc..");
}

static int control(void)
{
	return read_file("dos/plain.text");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

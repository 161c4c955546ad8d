// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file on vfat by a spelling that no rule contains
 * Hook: file_open
 * Errno: EACCES
 * Control: reads another file there by a spelling that is not stored
 * Record: open $WORK/dos/.netrc
 * Where: tmpfs
 */
#include "tests/redteam/folding.h"

static void setup(void)
{
	mount_dos();
	make_file("dos/.netrc", "text\n", 0644);
	make_file("dos/plain", "text\n", 0644);
}

static int attack(void)
{
	return read_file("dos/.NETRC");
}

static int control(void)
{
	return read_file("dos/PLAIN");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file that is mounted where a rule denies it, after one that stands beside it
 * Hook: file_open
 * Errno: EACCES
 * Control: reads the one beside twice
 * Record: open $VICTIM/kept
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(mkdir("shared", 0755));
	make_file("shared/beside", "text\n", 0644);
	make_file("shared/hidden", "secret\n", 0644);
	make_file(victim("kept"), "", 0644);
	NEED(mount("shared/hidden", victim("kept"), NULL, MS_BIND, NULL));
}

static int read_after_beside(const char *path)
{
	if (read_file("shared/beside"))
		broken("the file beside");
	return read_file(path);
}

static int attack(void)
{
	return read_after_beside("shared/hidden");
}

static int control(void)
{
	return read_after_beside("shared/beside");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads twice what a rule denies through a second mount
 * Hook: file_open
 * Errno: EACCES
 * Control: reads twice what lies beside
 * Record: open $VICTIM/kept/secret
 */
#include "tests/redteam/second_mount.h"

/* Nothing that the first answer came to is to be the second one's ground. */
static int read_twice(const char *path)
{
	(void)read_file(path);
	return read_file(path);
}

static int attack(void)
{
	return read_twice("bound/kept/secret");
}

static int control(void)
{
	return read_twice("bound/beside");
}

REDTEAM(.setup = bind_kept, .attack = attack, .control = control)

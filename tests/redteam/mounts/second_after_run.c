// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: tries to run, and then reads, a file that a rule denies through a second mount
 * Hook: file_open
 * Errno: EACCES
 * Control: tries and reads one from beside
 * Record: open $VICTIM/kept/secret
 */
#include "tests/redteam/second_mount.h"

static void setup(void)
{
	bind_kept();
	NEED(chmod("bound/kept/secret", 0777));
	NEED(chmod("bound/beside", 0777));
}

/* The name that was used does not grant that, so that no other is asked about. */
static int read_after(const char *path)
{
	char *const arguments[] = {(char *)path, NULL};

	(void)execv(path, arguments);
	return read_file(path);
}

static int attack(void)
{
	return read_after("bound/kept/secret");
}

static int control(void)
{
	return read_after("bound/beside");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

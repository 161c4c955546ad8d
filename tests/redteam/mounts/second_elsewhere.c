// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads what a rule denies through a second mount, after a file of a file system that is
 *   mounted once
 * Hook: file_open
 * Errno: EACCES
 * Control: reads one from beside, after that
 * Record: open $VICTIM/kept/secret
 */
#include "tests/redteam/second_mount.h"

static void setup(void)
{
	bind_kept();
	NEED(mkdir("alone", 0755));
	NEED(mount("tmpfs", "alone", "tmpfs", 0, "mode=755"));
	make_file("alone/file", "text\n", 0644);
}

static int read_after_alone(const char *path)
{
	if (read_file("alone/file"))
		broken("the file of the other file system");
	return read_file(path);
}

static int attack(void)
{
	return read_after_alone("bound/kept/secret");
}

static int control(void)
{
	return read_after_alone("bound/beside");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

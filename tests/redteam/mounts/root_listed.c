// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file of a file system that is mounted where a rule denies all, after the place
 *   itself
 * Hook: file_open
 * Errno: EACCES
 * Control: reads one of a file system that is mounted beside
 * Record: open $WORK/.docker/secret
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static void place(const char *path)
{
	NEED(mkdir(path, 0755));
	NEED(mount("tmpfs", path, "tmpfs", 0, "mode=755"));
	make_file(in_directory(path, "secret"), "secret\n", 0644);
}

static void setup(void)
{
	place(".docker");
	place("plain");
}

/* Its root is in no directory but itself. */
static int read_after_place(const char *path)
{
	(void)open_with(path, O_RDONLY | O_DIRECTORY);
	return read_file(in_directory(path, "secret"));
}

static int attack(void)
{
	return read_after_place(".docker");
}

static int control(void)
{
	return read_after_place("plain");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

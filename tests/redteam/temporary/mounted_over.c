// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads what somebody has mounted over a directory that it has made in /tmp
 * Hook: file_open
 * Errno: EACCES
 * Control: reads what it has made in such a directory
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open $ANY-mine/secret
 */
#include "tests/redteam/temporary.h"

#include <sys/mount.h>

static void mount_over(void)
{
	const char *mine = temporary("mine");

	wait_for_file(in_directory(mine, "made"));
	NEED(mount("none", mine, "tmpfs", 0, "mode=0777"));
	make_file(in_directory(mine, "secret"), "secret\n", 0644);
	make_file(in_directory(mine, "ready"), "", 0644);
}

static void setup(void)
{
	leave_behind(mount_over);
}

static int make(const char *directory, const char *file)
{
	int error = outcome(mkdir(directory, 0700));

	return error ? error : write_file(in_directory(directory, file));
}

static int attack(void)
{
	int error = make(temporary("mine"), "made");

	if (error)
		return error;
	wait_for_file(in_directory(temporary("mine"), "ready"));
	return read_file(in_directory(temporary("mine"), "secret"));
}

static int control(void)
{
	int error = make(temporary("beside"), "other");

	return error ? error : read_file(in_directory(temporary("beside"), "other"));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

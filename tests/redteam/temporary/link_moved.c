// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: brings a symbolic link from a directory of its own to /tmp
 * Hook: path_rename
 * Errno: EXDEV
 * Control: brings a file
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: rename $ANY-expected
 */
#include "tests/redteam/temporary.h"

static const char *own(const char *name)
{
	if (mkdir(temporary("mine"), 0700) < 0 && errno != EEXIST)
		broken("mkdir");
	return in_directory(temporary("mine"), name);
}

static int attack(void)
{
	NEED(symlink("elsewhere", own("link")));
	return outcome(rename(own("link"), temporary("expected")));
}

static int control(void)
{
	int error = write_file(own("file"));

	if (!error)
		error = outcome(rename(own("file"), temporary("moved")));
	return error ? error : use_up(temporary("moved"));
}

REDTEAM(.attack = attack, .control = control)

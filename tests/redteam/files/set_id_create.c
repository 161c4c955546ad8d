// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a file that runs as its owner, whoever starts it
 * Hook: path_mknod
 * Errno: EPERM
 * Control: makes a program, and a directory whose group is inherited
 * Record: create $WORK/new
 * As: root bare user
 */
#include "tests/redteam/attack.h"

static int create(const char *name, mode_t mode)
{
	return outcome(open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
}

static int attack(void)
{
	return create("new", 04755);
}

static int control(void)
{
	int error = create("program", 0755);

	NEED(mkdir("shared", 0755));
	return error ? error : outcome(chmod("shared", 02775));
}

REDTEAM(.attack = attack, .control = control)

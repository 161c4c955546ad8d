// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a FIFO in /tmp, for whoever opens that name to wait
 * Hook: path_mknod
 * Errno: EACCES
 * Control: makes one in a directory of its own
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: mknod $ANY-expected
 */
#include "tests/redteam/temporary.h"

static int attack(void)
{
	return outcome(mkfifo(temporary("expected"), 0666));
}

static int control(void)
{
	const char *fifo = in_directory(temporary("mine"), "fifo");
	int error = outcome(mkdir(temporary("mine"), 0700));

	if (!error)
		error = outcome(mkfifo(fifo, 0600));
	if (!error)
		error = outcome(unlink(fifo));
	return error ? error : outcome(rmdir(temporary("mine")));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside from an orphan in a session of its own
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static pid_t setsid_leader(void)
{
	return getsid(0);
}

static int attack(void)
{
	int ends[2], error = BROKEN;
	pid_t child;

	NEED(pipe(ends));
	child = NEED(fork());
	if (child == 0) {
		setsid();
		if (NEED(fork()) == 0) {
			/* Until the pipe's other reader, our parent, has gone. */
			while (getppid() == setsid_leader())
				usleep(1000);
			error = chdir("/") ? errno : read_file(victim("secret"));
			NEED(write(ends[1], &error, sizeof(error)));
		}
		_exit(0);
	}
	waitpid(child, NULL, 0);
	NEED(read(ends[0], &error, sizeof(error)));
	return error;
}

REDTEAM(.attack = attack)

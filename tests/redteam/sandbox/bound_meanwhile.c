// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside by a name over which it is mounted and unmounted all the time
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own so
 * Record: open $VICTIM/secret
 * As: user+namespaces
 * Where: tmpfs ext4
 * Contexts: vfork handler
 */
#include <time.h>

#include "tests/redteam/sandbox.h"

#define SECONDS 2

/* Ends with its parent's group. */
static pid_t start_mounting(const char *from, const char *to)
{
	pid_t child = NEED(fork());

	if (child)
		return child;
	for (;;) {
		mount(from, to, NULL, MS_BIND, NULL);
		usleep(500);
		umount2(to, MNT_DETACH);
	}
}

/* 0: it has been read once at least. */
static int read_meanwhile(const char *from, const char *name)
{
	time_t end = time(NULL) + SECONDS;
	int error, last = ENOENT;
	pid_t mounter;

	enter_sandbox(0);
	make_own_directory("here");
	mounter = start_mounting(from, "here");
	do {
		error = read_file(name);
		if (error != ENOENT)
			last = error;
	} while (last != 0 && time(NULL) < end);
	kill(mounter, SIGKILL);
	waitpid(mounter, NULL, 0);
	return last;
}

static int inside(void)
{
	return read_meanwhile(victim(""), "here/secret");
}

static int allowed(void)
{
	return read_meanwhile(".", "here/own");
}

REDTEAM_INSIDE(inside, allowed)

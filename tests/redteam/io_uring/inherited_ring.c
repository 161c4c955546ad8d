// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a file outside through a ring that another process made
 * Hook: file_open
 * Errno: EACCES
 * Control: opens its own file so
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/uring.h"

/* The ring's memory and descriptor pass to the child, which submits. */
static int open_in_child(const char *path)
{
	struct uring ring;
	int result = uring_open(&ring, 0);
	pid_t pid;

	if (result)
		return result;
	pid = NEED(fork());
	if (pid == 0) {
		result = uring_request(&ring, uring_openat(path, O_RDONLY));
		_exit(result < 0 ? -result : 0);
	}
	return exit_status(pid);
}

static int attack(void)
{
	return open_in_child(victim("secret"));
}

static int control(void)
{
	return open_in_child("own");
}

REDTEAM(.attack = attack, .control = control)

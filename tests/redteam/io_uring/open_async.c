// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a file outside by a worker thread of io_uring
 * Hook: file_open
 * Errno: EACCES
 * Control: opens its own file so
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/uring.h"

static int open_async(const char *path)
{
	struct io_uring_sqe entry = uring_openat(path, O_RDONLY);

	entry.flags = IOSQE_ASYNC;
	return uring_once(entry);
}

static int attack(void)
{
	return open_async(victim("secret"));
}

static int control(void)
{
	return open_async("own");
}

REDTEAM(.attack = attack, .control = control)

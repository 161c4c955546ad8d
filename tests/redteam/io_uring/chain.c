// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: hides the open of a file outside in a chain of requests
 * Hook: file_open
 * Errno: EACCES
 * Control: opens its own file in such a chain
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/uring.h"

/* An open, then another in the same chain: what the second one did. */
static int open_second(const char *path)
{
	struct io_uring_sqe entries[2] = {uring_openat("own", O_RDONLY),
					  uring_openat(path, O_RDONLY)};
	int results[2];

	entries[0].flags = IOSQE_IO_LINK;
	uring_several(entries, results, 2);
	return results[1] < 0 ? -results[1] : 0;
}

static int attack(void)
{
	return open_second(victim("secret"));
}

static int control(void)
{
	return open_second("own");
}

REDTEAM(.attack = attack, .control = control)

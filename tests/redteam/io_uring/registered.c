// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a file outside straight into a table of registered files, where it has no
 *   descriptor
 * Hook: file_open
 * Errno: EACCES
 * Control: opens its own file so
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/uring.h"

static int open_registered(const char *path)
{
	struct io_uring_sqe entry = uring_openat(path, O_RDONLY);
	struct uring ring;
	int empty = -1, result = uring_open(&ring, 0);

	if (result)
		return result;
	NEED(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, &empty, 1));
	entry.file_index = 1;
	result = uring_request(&ring, entry);
	return result < 0 ? -result : 0;
}

static int attack(void)
{
	return open_registered(victim("secret"));
}

static int control(void)
{
	return open_registered("own");
}

REDTEAM(.attack = attack, .control = control)

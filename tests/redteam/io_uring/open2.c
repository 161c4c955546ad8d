// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside by the newer open through io_uring
 * Hook: file_open
 * Errno: EACCES
 * Control: opens its own file so
 * Record: open $VICTIM/secret
 */
#include <linux/openat2.h>

#include "tests/redteam/uring.h"

static int open_by(const char *path)
{
	struct open_how how = {.flags = O_RDONLY};

	return uring_once((struct io_uring_sqe){
		.opcode = IORING_OP_OPENAT2,
		.fd = AT_FDCWD,
		.addr = (unsigned long)path,
		.len = sizeof(how),
		.off = (unsigned long)&how,
	});
}

static int attack(void)
{
	return open_by(victim("secret"));
}

static int control(void)
{
	return open_by("own");
}

REDTEAM(.attack = attack, .control = control)

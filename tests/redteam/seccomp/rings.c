// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes an io_uring
 * Hook: seccomp
 * Errno: ENOSYS
 * Control: writes without one
 * Record: system-call io_uring_setup
 * As: root+filter user+filter
 */
#include <linux/io_uring.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	struct io_uring_params params = {};

	return outcome(syscall(SYS_io_uring_setup, 4, &params));
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a ring of requests for asynchronous input and output, all that the host may have at
 *   a time
 * Hook: seccomp
 * Errno: ENOSYS
 * Control: writes without one
 * Record: system-call io_setup
 * As: root+filter user+filter
 */
#include <linux/aio_abi.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	aio_context_t context = 0;

	return outcome(syscall(SYS_io_setup, 8192, &context));
}

REDTEAM(.attack = attack)

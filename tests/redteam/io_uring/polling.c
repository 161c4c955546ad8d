// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has a kernel thread work off its requests
 * Hook: uring_sqpoll
 * Errno: EPERM
 * Control: makes a ring without one
 * Record: io_uring 1
 */
#include "tests/redteam/uring.h"

static int attack(void)
{
	return uring_open(&(struct uring){}, IORING_SETUP_SQPOLL);
}

static int control(void)
{
	return uring_open(&(struct uring){}, 0);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside through io_uring
 * Hook: file_open
 * Errno: EACCES
 * Control: opens its own file so
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/uring.h"

static int attack(void)
{
	return uring_once(uring_openat(victim("secret"), O_RDONLY));
}

static int control(void)
{
	return uring_once(uring_openat("own", O_RDONLY));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: creates a file outside through io_uring
 * Hook: path_mknod
 * Errno: EACCES
 * Control: creates one in its directory so
 * Record: create $VICTIM/dir/new
 */
#include "tests/redteam/uring.h"

static int attack(void)
{
	return uring_once(uring_openat(victim("dir/new"), O_WRONLY | O_CREAT));
}

static int control(void)
{
	return uring_once(uring_openat("new", O_WRONLY | O_CREAT));
}

REDTEAM(.attack = attack, .control = control)

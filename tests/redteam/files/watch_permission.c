// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has opens of a file wait for its permission
 * Hook: path_notify
 * Errno: EPERM
 * Control: uses its own file
 * Record: open $ANY
 * As: root
 */
#include <sys/fanotify.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	int fd = NEED(fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY));

	return outcome(fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, "own"));
}

REDTEAM(.attack = attack)

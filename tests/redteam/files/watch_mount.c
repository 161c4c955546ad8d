// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has every open on a whole mount told, with its process
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
	int fd = NEED(fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC, O_RDONLY));

	return outcome(fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_OPEN, AT_FDCWD, "."));
}

REDTEAM(.attack = attack)

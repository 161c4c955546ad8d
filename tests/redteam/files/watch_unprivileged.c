// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: watches a directory outside with fanotify, as any user may
 * Hook: path_notify
 * Errno: EACCES
 * Control: watches its own directory
 * Record: open $VICTIM/dir
 * As: bare user
 * Where: tmpfs ext4
 */
#include <sys/fanotify.h>

#include "tests/redteam/attack.h"

static int watch(const char *path)
{
	int fd = NEED(fanotify_init(FAN_REPORT_FID | FAN_CLOEXEC, O_RDONLY));

	return outcome(fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN | FAN_ONDIR, AT_FDCWD, path));
}

static int attack(void)
{
	return watch(victim("dir"));
}

static int control(void)
{
	return watch(".");
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: watches a directory outside
 * Hook: path_notify
 * Errno: EACCES
 * Control: watches its own
 * Record: metadata $VICTIM/dir
 * As: root+metadata user+metadata
 */
#include <sys/inotify.h>

#include "tests/redteam/attack.h"

static int watch(const char *path)
{
	int fd = NEED(inotify_init1(IN_CLOEXEC));

	return outcome(inotify_add_watch(fd, path, IN_CREATE));
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

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the names told that are made in a directory outside
 * Hook: path_notify
 * Errno: EACCES
 * Control: watches its own directory
 * Record: open $VICTIM/dir
 */
#include <sys/inotify.h>

#include "tests/redteam/attack.h"

static int watch(const char *path)
{
	int fd = NEED(inotify_init1(IN_CLOEXEC));

	return outcome(inotify_add_watch(fd, path, IN_CREATE | IN_OPEN));
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

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has it told when somebody looks at the network namespace that it shares with the host
 * Hook: path_notify
 * Errno: EACCES
 * Control: watches its own directory
 * Record: open $ANY
 */
#include <sys/inotify.h>

#include "tests/redteam/attack.h"

static int watch(const char *path)
{
	int fd = NEED(inotify_init1(IN_CLOEXEC));

	return outcome(inotify_add_watch(fd, path, IN_OPEN));
}

static int attack(void)
{
	return watch("/proc/self/ns/net");
}

static int control(void)
{
	return watch(".");
}

REDTEAM(.attack = attack, .control = control)

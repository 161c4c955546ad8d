// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: limits what the daemon may write
 * Hook: task_prlimit
 * Errno: EPERM
 * Control: limits itself
 * Record: sched $ANY
 * As: root
 */
#include <sys/resource.h>

#include "tests/redteam/attack.h"

static int limit(pid_t pid)
{
	struct rlimit present;

	NEED(prlimit(0, RLIMIT_FSIZE, NULL, &present));
	return outcome(prlimit(pid, RLIMIT_FSIZE, &present, NULL));
}

static int attack(void)
{
	return limit(atoi(setting("REDTEAM_DAEMON_PID")));
}

static int control(void)
{
	return limit(getpid());
}

REDTEAM(.attack = attack, .control = control)

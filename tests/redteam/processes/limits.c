// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sets limits of a process outside, which can end it
 * Hook: task_setrlimit
 * Errno: EPERM
 * Control: lowers its own
 * Record: sched process $PID
 */
#include <sys/resource.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	struct rlimit limit = {4096, 4096};

	return outcome(prlimit(host_pid(), RLIMIT_NOFILE, &limit, NULL));
}

static int control(void)
{
	struct rlimit limit = {0, 0};

	return outcome(prlimit(0, RLIMIT_CORE, &limit, NULL));
}

REDTEAM(.attack = attack, .control = control)

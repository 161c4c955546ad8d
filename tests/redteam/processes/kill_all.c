// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: signals all processes that it can
 * Hook: task_kill
 * Errno: EPERM
 * Control: signals itself
 * Record: signal process $ANY
 */
#include <time.h>

#include "tests/redteam/attack.h"

/* kill(-1) succeeds even if nobody could be signalled: the host says whether it was. */
static int attack(void)
{
	struct timespec tick = {.tv_nsec = 5000000};

	signal(SIGURG, SIG_IGN);
	NEED(kill(-1, SIGURG));
	for (int i = 0; i < 60; i++) {
		if (access(host_place("urged"), F_OK) == 0)
			return 0;
		nanosleep(&tick, NULL);
	}
	return EPERM;
}

static int control(void)
{
	signal(SIGURG, SIG_IGN);
	return outcome(kill(getpid(), SIGURG));
}

REDTEAM(.attack = attack, .control = control)

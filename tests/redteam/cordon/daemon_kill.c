// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: signals the daemon that confines it
 * Hook: task_kill
 * Errno: EPERM
 * Control: uses its own file
 * Record: signal process $DAEMON$ANY
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(kill(atoi(setting("REDTEAM_DAEMON_PID")), SIGURG));
}

REDTEAM(.attack = attack)

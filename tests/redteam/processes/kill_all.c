// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: signals all processes that it can
 * Hook: task_kill
 * Errno: EPERM
 * Control: signals itself
 * Record: signal process $ANY
 */

#include "tests/redteam/net.h"

/*
 * kill(-1) succeeds even if nobody could be signalled: the host says whether it was. Once it
 * answers it has met its signals.
 */
static int attack(void)
{
	signal(SIGURG, SIG_IGN);
	NEED(kill(-1, SIGURG));
	close(receive_descriptor("/dev/null"));
	return access(host_place("urged"), F_OK) == 0 ? 0 : EPERM;
}

static int control(void)
{
	signal(SIGURG, SIG_IGN);
	return outcome(kill(getpid(), SIGURG));
}

REDTEAM(.attack = attack, .control = control)

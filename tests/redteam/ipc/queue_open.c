// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a POSIX message queue of the host
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $ANY
 */
#include "tests/redteam/ipc.h"

static int attack(void)
{
	return outcome(mq_open(queue_name(), O_RDWR));
}

REDTEAM(.setup = leave_queue, .attack = attack)

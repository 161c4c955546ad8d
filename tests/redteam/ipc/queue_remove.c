// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes a POSIX message queue of the host
 * Hook: inode_unlink
 * Errno: EACCES
 * Control: uses its own file
 * Record: ipc $ANY
 */
#include "tests/redteam/ipc.h"

static int attack(void)
{
	return outcome(mq_unlink(queue_name()));
}

REDTEAM(.setup = leave_queue, .attack = attack)

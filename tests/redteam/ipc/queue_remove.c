// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes a POSIX message queue of the host
 * Hook: inode_unlink
 * Errno: EACCES
 * Control: uses its own file
 * Record: ipc $ANY
 */
#include <mqueue.h>

#include "tests/redteam/ipc.h"

static void setup(void)
{
	NEED(fchown(NEED(mq_open(queue_name(), O_CREAT | O_RDWR, 0600, NULL)), attacker(),
		    attacker()));
}

static int attack(void)
{
	return outcome(mq_unlink(queue_name()));
}

REDTEAM(.setup = setup, .attack = attack)

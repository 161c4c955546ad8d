// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a POSIX message queue of the host
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $ANY
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
	return outcome(mq_open(queue_name(), O_RDWR));
}

REDTEAM(.setup = setup, .attack = attack)

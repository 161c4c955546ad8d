// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a POSIX message queue, which outlives it
 * Hook: inode_create
 * Errno: EACCES
 * Control: uses its own file
 * Record: ipc $ANY
 */
#include "tests/redteam/ipc.h"

/* Made is also what could be made but not opened. */
static int attack(void)
{
	if (mq_open(queue_name(), O_CREAT | O_RDWR, 0600, NULL) >= 0)
		return 0;
	if (mq_open(queue_name(), O_RDWR) >= 0 || errno != ENOENT)
		return 0;
	return EACCES;
}

REDTEAM(.attack = attack)

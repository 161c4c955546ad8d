// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens the memory of the daemon that confines it
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open /proc/$DAEMON/mem
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/mem", setting("REDTEAM_DAEMON_PID"));
	return open_with(path, O_RDWR);
}

REDTEAM(.attack = attack)

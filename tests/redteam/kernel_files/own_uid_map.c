// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens the map of user ids for writing
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own status
 * Record: open /proc/$ANY/uid_map
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/proc/self/uid_map", O_WRONLY);
}

static int control(void)
{
	return read_file("/proc/self/status");
}

REDTEAM(.attack = attack, .control = control)

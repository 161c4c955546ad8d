// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens the trigger that can stop the machine
 * Hook: file_open
 * Errno: EACCES
 * Control: reads its own status
 * Record: open /proc/sysrq-trigger
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/proc/sysrq-trigger", O_WRONLY);
}

static int control(void)
{
	return read_file("/proc/self/status");
}

REDTEAM(.attack = attack, .control = control)

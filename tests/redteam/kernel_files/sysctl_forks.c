// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes how many processes the host may have
 * Hook: file_open
 * Errno: EACCES
 * Control: reads it
 * Record: open /proc/sys/kernel/pid_max
 * As: root bare
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/proc/sys/kernel/pid_max", O_WRONLY);
}

static int control(void)
{
	return open_with("/proc/sys/kernel/pid_max", O_RDONLY);
}

REDTEAM(.attack = attack, .control = control)

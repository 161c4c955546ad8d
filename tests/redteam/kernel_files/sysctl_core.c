// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens the setting of what handles core dumps, a way to run programs as root
 * Hook: file_open
 * Errno: EACCES
 * Control: reads a setting
 * Record: open /proc/sys/kernel/core_pattern
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/proc/sys/kernel/core_pattern", O_WRONLY);
}

static int control(void)
{
	return read_file("/proc/sys/kernel/osrelease");
}

REDTEAM(.attack = attack, .control = control)

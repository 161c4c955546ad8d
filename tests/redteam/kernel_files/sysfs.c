// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a setting in sysfs for writing
 * Hook: file_open
 * Errno: EACCES
 * Control: reads it
 * Record: open /sys/kernel/mm/transparent_hugepage/enabled
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/sys/kernel/mm/transparent_hugepage/enabled", O_WRONLY);
}

static int control(void)
{
	return read_file("/sys/kernel/mm/transparent_hugepage/enabled");
}

REDTEAM(.attack = attack, .control = control)

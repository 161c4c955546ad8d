// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: writes to the kernel log
 * Hook: file_open
 * Errno: EACCES
 * Control: writes to /dev/null
 * Record: open /dev/kmsg
 * As: root
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/dev/kmsg", O_WRONLY);
}

static int control(void)
{
	return write_file("/dev/null");
}

REDTEAM(.attack = attack, .control = control)

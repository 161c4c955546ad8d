// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes what the kernel kills first when memory runs out
 * Hook: file_open
 * Errno: EACCES
 * Control: reads it
 * Record: open /proc/$ANY/oom_score_adj
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return open_with("/proc/self/oom_score_adj", O_WRONLY);
}

static int control(void)
{
	return read_file("/proc/self/oom_score_adj");
}

REDTEAM(.attack = attack, .control = control)

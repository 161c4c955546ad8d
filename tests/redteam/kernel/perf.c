// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: counts what the machine does
 * Hook: perf_event_open
 * Errno: EPERM
 * Control: uses its own file
 * Record: perf $ANY
 */
#include <linux/perf_event.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .exclude_kernel = 1};

	return outcome(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

REDTEAM(.attack = attack)

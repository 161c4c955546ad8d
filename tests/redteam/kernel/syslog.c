// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads the kernel's messages
 * Hook: syslog
 * Errno: EPERM
 * Control: uses its own file
 * Record: capable $ANY
 * As: bare user
 */
#include <sys/klog.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	char text[256];

	return outcome(klogctl(3 /* SYSLOG_ACTION_READ_ALL */, text, sizeof(text)));
}

REDTEAM(.attack = attack)

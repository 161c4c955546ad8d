// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the quotas of all file systems written out
 * Hook: quotactl
 * Errno: EPERM
 * Control: uses its own file
 * Record: mount $ANY
 */
#include <sys/quota.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(quotactl(QCMD(Q_SYNC, USRQUOTA), NULL, 0, NULL));
}

REDTEAM(.attack = attack)

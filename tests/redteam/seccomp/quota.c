// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: asks for disk quotas
 * Hook: seccomp
 * Errno: EPERM
 * Control: uses its own file
 * Record: system-call quotactl
 * As: root+filter user+filter
 */
#include <sys/quota.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(quotactl(QCMD(Q_SYNC, USRQUOTA), NULL, 0, NULL));
}

REDTEAM(.attack = attack)

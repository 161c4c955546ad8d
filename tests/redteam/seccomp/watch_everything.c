// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: watches files by fanotify
 * Hook: seccomp
 * Errno: EPERM
 * Control: uses its own file
 * Record: system-call fanotify_init
 * As: root+filter user+filter
 */
#include <sys/fanotify.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_CLOEXEC, O_RDONLY));
}

REDTEAM(.attack = attack)

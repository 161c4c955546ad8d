// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes its segment table
 * Hook: seccomp
 * Errno: EPERM
 * Control: uses its own file
 * Record: system-call modify_ldt
 * As: root+filter user+filter
 * Needs: machine x86_64
 */
#include <asm/ldt.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	struct user_desc entry = {.seg_32bit = 1, .useable = 1, .limit = 1};

	return outcome(syscall(SYS_modify_ldt, 0x11, &entry, sizeof(entry)));
}

REDTEAM(.attack = attack)

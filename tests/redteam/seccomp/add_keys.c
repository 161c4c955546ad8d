// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: keeps a key in the kernel
 * Hook: seccomp
 * Errno: EPERM
 * Control: uses its own file
 * Record: system-call add_key
 * As: root+filter user+filter
 */
#include <linux/keyctl.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(syscall(SYS_add_key, "user", "redteam", "x", 1, KEY_SPEC_PROCESS_KEYRING));
}

REDTEAM(.attack = attack)

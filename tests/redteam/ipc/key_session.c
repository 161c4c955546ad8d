// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a session keyring
 * Hook: key_alloc
 * Errno: EACCES
 * Control: uses its own file
 * Record: keyring $ANY
 */
#include <linux/keyctl.h>

#include "tests/redteam/ipc.h"

static int attack(void)
{
	return outcome(syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL));
}

REDTEAM(.attack = attack)

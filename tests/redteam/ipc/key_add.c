// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: leaves a key where other processes of its user find it
 * Hook: key_permission
 * Errno: ENOKEY
 * Control: uses its own file
 * Record: keyring $ANY as EACCES
 */
#include <linux/keyctl.h>

#include "tests/redteam/ipc.h"

static int attack(void)
{
	return outcome(syscall(SYS_add_key, "user", "redteam", "x", 1, KEY_SPEC_USER_KEYRING));
}

REDTEAM(.attack = attack)

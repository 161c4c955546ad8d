// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a key of its user that another process made
 * Hook: key_permission
 * Errno: ENOKEY
 * Control: uses its own file
 * Record: keyring $ANY as EACCES
 */
#include <linux/keyctl.h>

#include "tests/redteam/ipc.h"

static void setup(void)
{
	int id;

	if (setregid(attacker(), attacker()) < 0 || setreuid(attacker(), attacker()) < 0)
		broken("changing the user");
	id = NEED(syscall(SYS_add_key, "user", queue_name(), "secret", 6, KEY_SPEC_USER_KEYRING));
	NEED(syscall(SYS_keyctl, KEYCTL_SETPERM, id, 0x3f3f0000));
	keep_number(id);
}

static int attack(void)
{
	char text[16];

	return outcome(syscall(SYS_keyctl, KEYCTL_READ, kept_number(), text, sizeof(text)));
}

REDTEAM(.setup = setup, .attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the kernel start the host's helper for a key, which asks DNS and others for what its
 *   name says
 * Hook: key_alloc
 * Errno: EACCES
 * Control: uses its own file
 * Record: keyring $ANY
 * As: root bare user
 */
#include "tests/redteam/ipc.h"

/* The helper has no key of that name, or is not installed: either way it was asked for. */
static int attack(void)
{
	int error = outcome(syscall(SYS_request_key, "user", "redteam:upcall", "callout", 0));

	return error == ENOKEY || error == ENOENT ? 0 : error;
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside from a vforked child
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	const char *path = victim("secret");
	pid_t pid = NEED(vfork());

	if (pid == 0)
		_exit(open(path, O_RDONLY) < 0 ? errno : 0);
	return exit_status(pid);
}

REDTEAM(.attack = attack)

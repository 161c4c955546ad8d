// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes its root to a directory that it has open
 * Hook: path_chroot
 * Errno: EPERM
 * Control: changes its directory
 * Record: chroot 0
 * As: root
 * Needs: fchroot
 */
#include "tests/redteam/attack.h"
#include "tests/redteam/newer_calls.h"

static int attack(void)
{
	int directory = NEED(open("run", O_PATH | O_DIRECTORY | O_CLOEXEC));

	return outcome(syscall(CALL_FCHROOT, directory, 0));
}

static int control(void)
{
	return outcome(chdir("run"));
}

REDTEAM(.attack = attack, .control = control)

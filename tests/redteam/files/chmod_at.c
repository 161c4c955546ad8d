// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the mode of a file outside by the call that takes flags
 * Hook: path_chmod
 * Errno: EACCES
 * Control: changes that of its own so
 * Record: setattr|chmod $VICTIM/secret
 * Needs: fchmodat2
 */
#include "tests/redteam/attack.h"
#include "tests/redteam/newer_calls.h"

static int change(const char *path)
{
	return outcome(syscall(CALL_FCHMODAT2, AT_FDCWD, path, 0640, AT_SYMLINK_NOFOLLOW));
}

static int attack(void)
{
	return change(victim("secret"));
}

static int control(void)
{
	return change("own");
}

REDTEAM(.attack = attack, .control = control)

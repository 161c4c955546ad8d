// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves a file from where a rule denies it through a second mount
 * Hook: path_rename
 * Errno: EACCES
 * Control: moves one from beside
 * Record: rename $VICTIM/kept/secret
 * As: root bare user
 */
#include "tests/redteam/second_mount.h"

static int attack(void)
{
	int error = outcome(rename("bound/kept/secret", "bound/taken"));

	return error ? error : read_file("bound/taken");
}

static int control(void)
{
	return outcome(rename("bound/beside", "bound/moved"));
}

REDTEAM(.setup = bind_kept, .attack = attack, .control = control)

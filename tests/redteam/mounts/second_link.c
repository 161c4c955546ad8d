// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a file that a rule denies another name through a second mount
 * Hook: path_link
 * Errno: EXDEV
 * Control: does so with what lies beside
 * Record: link $WORK/bound/taken
 * As: root bare user
 */
#include "tests/redteam/second_mount.h"

static int attack(void)
{
	int error = outcome(link("bound/kept/secret", "bound/taken"));

	return error ? error : read_file("bound/taken");
}

static int control(void)
{
	return outcome(link("bound/beside", "bound/linked"));
}

REDTEAM(.setup = bind_kept, .attack = attack, .control = control)

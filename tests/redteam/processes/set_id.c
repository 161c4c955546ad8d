// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: becomes root by a set-id program
 * Hook: (no_new_privs)
 * Errno: EPERM
 * Control: runs it without becoming root
 * Record: none
 * As: user
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char *argv[] = {(char *)open_place("become-root"), "0", NULL};

	return run_program(argv);
}

static int control(void)
{
	char *argv[] = {(char *)open_place("become-root"), "1", NULL};

	return run_program(argv);
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs a program that the policy does not name
 * Hook: file_open, bprm_check_security
 * Errno: EACCES
 * Control: runs one that it names
 * Record: open|exec $VICTIM/program
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return run_path(victim("program"));
}

static int control(void)
{
	return run_path("/usr/bin/true");
}

REDTEAM(.attack = attack, .control = control)

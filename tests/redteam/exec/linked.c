// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs a program that the policy does not name through a link
 * Hook: file_open, bprm_check_security
 * Errno: EACCES
 * Control: runs one that it names through a link
 * Record: open|exec $VICTIM/program
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(symlink(victim("program"), "run/true"));
	return run_path("run/true");
}

static int control(void)
{
	NEED(symlink("/usr/bin/true", "true"));
	return run_path("./true");
}

REDTEAM(.attack = attack, .control = control)

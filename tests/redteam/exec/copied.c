// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs its own copy of an allowed program
 * Hook: file_open, bprm_check_security
 * Errno: EACCES
 * Control: runs a copy where that is allowed
 * Record: open|exec $WORK/copy
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	copy_file("/usr/bin/true", "run/program", 0755);
}

static int attack(void)
{
	copy_file("/usr/bin/true", "copy", 0755);
	return run_path("./copy");
}

static int control(void)
{
	return run_path("run/program");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

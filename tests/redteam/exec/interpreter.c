// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs a script whose interpreter the policy does not name
 * Hook: file_open, bprm_check_security
 * Errno: EACCES
 * Control: runs one with an allowed interpreter
 * Record: open|exec $VICTIM/program
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char text[PATH_SIZE];

	snprintf(text, sizeof(text), "#!%s\n", victim("program"));
	make_file("run/script", text, 0755);
	return run_path("run/script");
}

static int control(void)
{
	make_file("run/good", "#!/usr/bin/true\n", 0755);
	return run_path("run/good");
}

REDTEAM(.attack = attack, .control = control)

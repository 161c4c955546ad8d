// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs an allowed script by a script that may not be run
 * Hook: file_open, bprm_check_security
 * Errno: EACCES
 * Control: uses its own file
 * Record: open|exec $WORK/inner
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	char text[PATH_SIZE], here[PATH_SIZE];

	make_file("inner", "#!/usr/bin/true\n", 0755);
	snprintf(text, sizeof(text), "#!%s/inner\n", NEED(getcwd(here, sizeof(here))));
	make_file("run/outer", text, 0755);
	return run_path("run/outer");
}

REDTEAM(.attack = attack)

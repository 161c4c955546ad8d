// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a link to a directory built elsewhere, two levels above names that may not be made
 *   there
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes one below a name that no rule speaks of
 * Record: symlink $WORK/hooks
 * As: root+names user+names
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(mkdir("tree", 0755));
	NEED(mkdir("tree/run", 0755));
	make_file("tree/run/commit", "#!/bin/sh\n", 0755);
	return outcome(symlink("tree", "hooks"));
}

static int control(void)
{
	NEED(mkdir("lib", 0755));
	return outcome(symlink("lib", "lib64"));
}

REDTEAM(.attack = attack, .control = control)

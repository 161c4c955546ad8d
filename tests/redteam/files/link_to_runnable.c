// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a file of its own a second name that may be run
 * Hook: path_link
 * Errno: EXDEV
 * Control: links a file that may be run
 * Record: link $WORK/run/tool
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(link("own", "run/tool"));
}

static int control(void)
{
	unlink("run/second");
	make_file("run/first", "#!/usr/bin/true\n", 0755);
	return outcome(link("run/first", "run/second"));
}

REDTEAM(.attack = attack, .control = control)

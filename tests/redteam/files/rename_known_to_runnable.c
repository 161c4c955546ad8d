// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves a file of its own to where it may be run, when it has used both directories
 * Hook: path_rename
 * Errno: EXDEV
 * Control: renames where files may be run, there and back
 * Record: rename $WORK/run/tool
 */
#include "tests/redteam/attack.h"

/* So that it is remembered what the rules say of the directories. */
static void use_both(void)
{
	/* By then it is known that the file system is mounted once. */
	if (read_file("own"))
		broken("own");
	make_file("run/first", "x", 0700);
	make_file("plain", "x", 0700);
	NEED(close(NEED(open("plain", O_RDONLY | O_CLOEXEC))));
	NEED(close(NEED(open("run/first", O_RDONLY | O_CLOEXEC))));
}

static int attack(void)
{
	use_both();
	return outcome(rename("plain", "run/tool"));
}

static int control(void)
{
	use_both();
	return outcome(rename("run/first", "run/second"))
		       ?: outcome(rename("run/second", "run/first"));
}

REDTEAM(.attack = attack, .control = control)

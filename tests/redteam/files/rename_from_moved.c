// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves a file to where it may be run from a directory that it has used where files may be
 *   run, and has then moved away
 * Hook: path_rename
 * Errno: EXDEV
 * Control: moves it before that
 * Record: rename $WORK/run/tool
 * As: root+names user+names
 */
#include "tests/redteam/attack.h"

/* So that it is remembered what the rules say of the directory. */
static void use(const char *directory, const char *file)
{
	NEED(mkdir(directory, 0755));
	make_file(file, "x", 0700);
	NEED(close(NEED(open(file, O_RDONLY | O_CLOEXEC))));
}

static int attack(void)
{
	/* By then it is known that the file system is mounted once. */
	if (read_file("own"))
		broken("own");
	use("run/tree", "run/tree/program");
	NEED(rename("run/tree", "moved"));
	return outcome(rename("moved/program", "run/tool"));
}

static int control(void)
{
	use("run/other", "run/other/program");
	return outcome(rename("run/other/program", "run/program"));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: builds a directory elsewhere and renames it so that it has a file which may not be made
 *   there
 * Hook: path_rename
 * Errno: EXDEV
 * Control: renames it beside, and back
 * Record: rename $WORK/conf
 * As: root+names user+names
 */
#include "tests/redteam/attack.h"

static void build(const char *name)
{
	NEED(mkdir(name, 0755));
	make_file(in_directory(name, "settings.json"), "{}", 0644);
}

static int attack(void)
{
	build("tree");
	return outcome(rename("tree", "conf"));
}

static int control(void)
{
	build("beside");
	return outcome(rename("beside", "renamed") < 0 ? -1 : rename("renamed", "beside"));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a link to a directory built elsewhere, by whose name there is a file which may not
 *   be made there
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes one beside
 * Record: symlink $WORK/conf
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
	return outcome(symlink("tree", "conf"));
}

static int control(void)
{
	build("other");
	return outcome(symlink("other", "beside"));
}

REDTEAM(.attack = attack, .control = control)

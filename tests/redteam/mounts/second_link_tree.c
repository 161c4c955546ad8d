// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a link to a directory built beside, by whose name a second mount's rule denies a
 *   file
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes one of another name
 * Record: symlink $WORK/bound/conf
 */
#include "tests/redteam/second_mount.h"

static int build(const char *tree, const char *link)
{
	NEED(mkdir(in_directory("bound", tree), 0755));
	make_file(in_directory(in_directory("bound", tree), "settings.json"), "{}", 0644);
	return outcome(symlink(tree, in_directory("bound", link)));
}

static int attack(void)
{
	return build("tree", "conf");
}

static int control(void)
{
	return build("other", "free");
}

REDTEAM(.setup = bind_victims, .attack = attack, .control = control)

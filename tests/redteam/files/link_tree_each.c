// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a link, by any name, where a file may be made in no directory, to one with such a
 *   file
 * Hook: path_symlink
 * Errno: EACCES
 * Control: makes one where no rule speaks of what is in directories
 * Record: symlink $WORK/each/linked
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
	NEED(mkdir("each", 0755));
	return outcome(symlink("../tree", "each/linked"));
}

static int control(void)
{
	build("other");
	NEED(mkdir("free", 0755));
	return outcome(symlink("../other", "free/linked"));
}

REDTEAM(.attack = attack, .control = control)

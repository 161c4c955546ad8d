// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: builds a directory in a place whose other mount has a rule, and gives it the name that
 *   the rule speaks of
 * Hook: path_rename
 * Errno: EXDEV
 * Control: gives it another name
 * Record: rename $WORK/plain/conf
 * As: root+names user+names
 */
#include <sys/mount.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(mkdir("plain", 0755));
	NEED(chown("plain", attacker(), attacker()));
	NEED(mkdir("layered", 0755));
	NEED(mount("plain", "layered", NULL, MS_BIND, NULL));
}

static int build(const char *tree, const char *name)
{
	NEED(mkdir(tree, 0755));
	make_file(in_directory(tree, "settings.json"), "{}", 0644);
	return outcome(rename(tree, name));
}

static int attack(void)
{
	return build("plain/tree", "plain/conf");
}

static int control(void)
{
	return build("plain/other", "plain/free");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

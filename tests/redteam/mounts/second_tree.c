// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: builds a directory beside a second mount's rule, and gives it the name that the rule
 *   speaks of
 * Hook: path_rename
 * Errno: EXDEV
 * Control: gives it another name
 * Record: rename $WORK/bound/conf
 */
#include "tests/redteam/second_mount.h"

static int build(const char *name)
{
	NEED(mkdir("bound/tree", 0755));
	make_file("bound/tree/settings.json", "{}", 0644);
	return outcome(rename("bound/tree", name));
}

static int attack(void)
{
	return build("bound/conf");
}

static int control(void)
{
	return build("bound/free");
}

REDTEAM(.setup = bind_victims, .attack = attack, .control = control)

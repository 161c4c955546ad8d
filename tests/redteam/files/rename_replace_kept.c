// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a file away that it may not delete, by giving another its name
 * Hook: path_rename
 * Errno: EACCES
 * Control: takes away one that it may delete so
 * Record: rename $WORK/lasting
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	make_file("lasting", "what is to last\n", 0644);
	NEED(lchown("lasting", attacker(), attacker()));
}

static int replace(const char *name)
{
	make_file("new", "x", 0644);
	return outcome(rename("new", name));
}

static int attack(void)
{
	return replace("lasting");
}

static int control(void)
{
	return replace("own");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

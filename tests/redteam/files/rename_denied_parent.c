// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a denied file after renaming the directory above it
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $WORK/moved/.env
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(mkdir("tree", 0777));
	make_file("tree/.env", "KEY=secret\n", 0666);
	NEED(lchown("tree", attacker(), attacker()));
}

static int attack(void)
{
	NEED(rename("tree", "moved"));
	return read_file("moved/.env");
}

REDTEAM(.setup = setup, .attack = attack)

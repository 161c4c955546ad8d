// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a delegation of a directory that it may only list: whoever makes a file there waits
 *   for it
 * Hook: file_fcntl
 * Errno: EACCES
 * Control: takes one of its own directory
 * Record: open $OPEN/delegated
 * Where: tmpfs ext4
 * Needs: symbol fcntl_setdeleg
 */
#include "tests/redteam/delegation.h"

static void setup(void)
{
	const char *directory = open_place("delegated");

	if (mkdir(directory, 0755) < 0 && errno != EEXIST)
		broken("mkdir");
	NEED(chown(directory, attacker(), attacker()));
}

static int attack(void)
{
	return take_delegation(open_place("delegated"));
}

static int control(void)
{
	return take_delegation("run");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

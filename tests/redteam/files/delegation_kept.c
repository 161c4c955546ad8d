// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a delegation of a file in its directory that it may only read: writers wait for it
 * Hook: file_fcntl
 * Errno: EACCES
 * Control: takes one of its own file
 * Record: open $WORK/fixed
 * Where: tmpfs ext4
 * Needs: symbol fcntl_setdeleg
 */
#include "tests/redteam/delegation.h"

static void setup(void)
{
	make_file("fixed", "readable\n", 0644);
	NEED(chown("fixed", attacker(), attacker()));
}

static int attack(void)
{
	return take_delegation("fixed");
}

static int control(void)
{
	return take_delegation("own");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

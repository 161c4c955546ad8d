// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file in a case-insensitive directory by a spelling that is equal by the rules of
 *   Unicode only
 * Hook: file_open
 * Errno: EACCES
 * Control: reads a file with such a letter beside
 * Record: open $ANY
 * Where: tmpfs
 */
#include "tests/redteam/folding.h"

static void setup(void)
{
	make_folding();
	NEED(mkdir("folding/dir/.kube", 0755));
	give_to_attacker("folding/dir/.kube");
	make_attackers_file("folding/dir/.kube/config");
	make_attackers_file("folding/plain/\xc3\xbc");
}

static int attack(void)
{
	return read_file("folding/dir/.\xe2\x84\xaaube/config") /* the sign of Kelvin */;
}

static int control(void)
{
	return read_file("folding/plain/\xc3\xbc");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

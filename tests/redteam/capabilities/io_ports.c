// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gets at the ports of devices
 * Hook: capable
 * Errno: EPERM
 * Control: uses its own file
 * Record: capable $ANY
 * As: root bare
 * Needs: machine x86_64
 */
#include <sys/io.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(iopl(3));
}

REDTEAM(.attack = attack)

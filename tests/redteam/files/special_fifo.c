// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a FIFO under the name of a file that an executor writes, which waits for it
 * Hook: path_mknod
 * Errno: EACCES
 * Control: makes one where a rule says so
 * Record: mknod $WORK/next
 * As: root+special user+special
 */
#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(mkdir("bin", 0755));
	NEED(chown("bin", attacker(), attacker()));
}

static int attack(void)
{
	return outcome(mkfifo("next", 0600));
}

static int control(void)
{
	return outcome(mkfifo("bin/pipe", 0600));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

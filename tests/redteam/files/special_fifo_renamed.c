// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a FIFO the name of a file that an executor writes
 * Hook: path_rename
 * Errno: EXDEV
 * Control: gives it another name where it may be
 * Record: rename $WORK/next
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
	NEED(mkfifo("bin/pipe", 0600));
	return outcome(rename("bin/pipe", "next"));
}

static int control(void)
{
	NEED(mkfifo("bin/first", 0600));
	return outcome(rename("bin/first", "bin/second"));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)

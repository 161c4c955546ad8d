// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has all memory that it reads made executable
 * Hook: seccomp
 * Errno: EPERM
 * Control: asks for its personality, and turns off address randomisation
 * Record: system-call personality
 * As: root+filter user+filter
 */
#include <sys/personality.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(personality(READ_IMPLIES_EXEC));
}

static int control(void)
{
	int now = personality(0xffffffff);

	return now < 0 ? errno : outcome(personality((unsigned long)now | ADDR_NO_RANDOMIZE));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a process outside the receiver of a file's signals (F_SETOWN_EX)
 * Hook: file_fcntl
 * Errno: EPERM
 * Control: uses its own file
 * Record: signal $ANY
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = host_pid()};
	int ends[2];

	NEED(pipe(ends));
	return outcome(fcntl(ends[0], F_SETOWN_EX, &owner));
}

REDTEAM(.attack = attack)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a process outside the receiver of a file's signals
 * Hook: file_fcntl
 * Errno: EPERM
 * Control: makes itself the receiver
 * Record: signal $ANY
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	int ends[2];

	NEED(pipe(ends));
	return outcome(fcntl(ends[0], F_SETOWN, host_pid()));
}

static int control(void)
{
	int ends[2];

	NEED(pipe(ends));
	return outcome(fcntl(ends[0], F_SETOWN, getpid()));
}

REDTEAM(.attack = attack, .control = control)

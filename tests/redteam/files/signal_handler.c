// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside from a signal handler
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int error = BROKEN;

static void handler(int number)
{
	(void)number;
	error = read_file(victim("secret"));
}

static int attack(void)
{
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	return error;
}

REDTEAM(.attack = attack)

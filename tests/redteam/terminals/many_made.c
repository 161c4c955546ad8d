// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes more terminals than one execution may have, of the few that the host has
 * Hook: file_open
 * Errno: ENOSPC
 * Control: makes as many one after the other
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open /dev/$ANYptmx
 */
#include "tests/redteam/terminals.h"

#define MORE 70

static int attack(void)
{
	for (int i = 0; i < MORE; i++)
		if (open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) < 0)
			return errno;
	return 0;
}

static int control(void)
{
	for (int i = 0; i < 3 * MORE; i++)
		close(new_master());
	return use_own_terminal();
}

REDTEAM(.attack = attack, .control = control)

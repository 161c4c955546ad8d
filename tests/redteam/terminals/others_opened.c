// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a terminal of the same user below /dev/pts that the host has made
 * Hook: file_open
 * Errno: EACCES
 * Control: opens a terminal that it has made, by its name and by TIOCGPTPEER
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open /dev/pts/$ANY
 */
#include "tests/redteam/terminals.h"

static int attack(void)
{
	return open_terminal("theirs");
}

REDTEAM(.setup = make_others_terminal, .attack = attack, .control = use_own_terminal)

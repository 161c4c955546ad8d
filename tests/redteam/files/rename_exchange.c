// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: exchanges its own file with one outside
 * Hook: path_rename
 * Errno: EACCES
 * Control: exchanges two files of its own
 * Record: rename $VICTIM/secret
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return outcome(renameat2(AT_FDCWD, "own", AT_FDCWD, victim("secret"), RENAME_EXCHANGE));
}

static int control(void)
{
	make_file("a", "x", 0600);
	make_file("b", "x", 0600);
	return outcome(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE));
}

REDTEAM(.attack = attack, .control = control)

// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: exchanges a file that may be run with one that may not
 * Hook: path_rename
 * Errno: EXDEV
 * Control: uses its own file
 * Record: rename $WORK/run/tool
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	make_file("run/tool", "x", 0755);
	return outcome(renameat2(AT_FDCWD, "run/tool", AT_FDCWD, "own", RENAME_EXCHANGE));
}

REDTEAM(.attack = attack)

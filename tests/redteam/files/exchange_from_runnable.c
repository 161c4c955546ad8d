// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: exchanges a file that may not be run with one that may
 * Hook: path_rename
 * Errno: EXDEV
 * Control: exchanges two that may not
 * Record: rename $WORK/run/tool
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/attack.h"

/* The way back, of what may be run to where nothing may, is allowed. */
static int exchange(const char *name)
{
	make_file(name, "x", 0755);
	return outcome(renameat2(AT_FDCWD, "own", AT_FDCWD, name, RENAME_EXCHANGE));
}

static int attack(void)
{
	return exchange("run/tool");
}

static int control(void)
{
	return exchange("tool");
}

REDTEAM(.attack = attack, .control = control)

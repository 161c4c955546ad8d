// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: exchanges a directory with a link to another, which has a file that may not be made in
 *   the first
 * Hook: path_rename
 * Errno: EXDEV
 * Control: exchanges one that no rule speaks of
 * Record: rename $WORK/conf
 * As: root+names user+names
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(symlink("run", "first"));
	NEED(mkdir("conf", 0755));
	return outcome(renameat2(AT_FDCWD, "first", AT_FDCWD, "conf", RENAME_EXCHANGE));
}

static int control(void)
{
	NEED(symlink("run", "second"));
	NEED(mkdir("plain", 0755));
	return outcome(renameat2(AT_FDCWD, "second", AT_FDCWD, "plain", RENAME_EXCHANGE));
}

REDTEAM(.attack = attack, .control = control)

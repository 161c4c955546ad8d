// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: exchanges a file for a directory built elsewhere, which has a file that may not be made
 *   there
 * Hook: path_rename
 * Errno: EXDEV
 * Control: exchanges two others
 * Record: rename $WORK/conf
 * As: root+names user+names
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

/* The file is named first: what it becomes is nothing, and the way back is what is refused. */
static int exchange(const char *file, const char *directory)
{
	make_file(file, "", 0644);
	NEED(mkdir(directory, 0755));
	make_file(in_directory(directory, "settings.json"), "{}", 0644);
	return outcome(renameat2(AT_FDCWD, file, AT_FDCWD, directory, RENAME_EXCHANGE));
}

static int attack(void)
{
	return exchange("conf", "tree");
}

static int control(void)
{
	return exchange("one", "other");
}

REDTEAM(.attack = attack, .control = control)

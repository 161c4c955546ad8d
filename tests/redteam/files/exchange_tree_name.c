// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: exchanges a directory for one built elsewhere, which has a file that may not be made
 *   there
 * Hook: path_rename
 * Errno: EXDEV
 * Control: exchanges two others
 * Record: rename $WORK/conf
 * As: root+names user+names
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static int exchange(const char *one, const char *other)
{
	return outcome(renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE));
}

static int attack(void)
{
	NEED(mkdir("conf", 0755));
	NEED(mkdir("tree", 0755));
	make_file("tree/settings.json", "{}", 0644);
	return exchange("tree", "conf");
}

static int control(void)
{
	NEED(mkdir("one", 0755));
	NEED(mkdir("other", 0755));
	return exchange("one", "other");
}

REDTEAM(.attack = attack, .control = control)

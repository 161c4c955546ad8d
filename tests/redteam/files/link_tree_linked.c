// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a link to a directory a second name, by which it has a file that may not be made
 *   there
 * Hook: path_link
 * Errno: EXDEV
 * Control: gives it one beside
 * Record: link $WORK/conf
 * As: root+names user+names
 * Where: tmpfs ext4
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	NEED(symlink("run", "first"));
	return outcome(linkat(AT_FDCWD, "first", AT_FDCWD, "conf", 0));
}

static int control(void)
{
	NEED(symlink("run", "second"));
	return outcome(linkat(AT_FDCWD, "second", AT_FDCWD, "third", 0));
}

REDTEAM(.attack = attack, .control = control)

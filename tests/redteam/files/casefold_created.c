// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a file in a case-insensitive directory by a spelling that no rule contains
 * Hook: path_mknod
 * Errno: EACCES
 * Control: makes another file there
 * Record: create $WORK/folding/dir/.Netrc
 * Where: tmpfs
 */
#include "tests/redteam/folding.h"

static void setup(void)
{
	make_folding();
}

static int attack(void)
{
	return open_with("folding/dir/.Netrc", O_WRONLY | O_CREAT | O_EXCL);
}

static int control(void)
{
	return open_with("folding/dir/Plain", O_WRONLY | O_CREAT | O_EXCL);
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
